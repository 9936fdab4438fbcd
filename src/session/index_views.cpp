#include "session/index_views.h"

#include <c10/util/ScopeExit.h>

#include <optional>

#include "session/session_lock.h"

namespace leapp::session {
namespace {

using trace::DynamicIndexViews;

std::optional<DynamicIndexViews::Step> next_step(
    Session& session, const std::vector<const c10::StorageImpl*>* touched) {
  const SessionLock data(session);
  if (!data->tape) return std::nullopt;
  return data->tape.views.next_step(*data->tape, touched);
}

void finish(Session& session, const DynamicIndexViews::Step& step) {
  const SessionLock data(session);
  // The pass may have ended on another thread while the step ran.
  if (data->tape) data->tape.views.finish(*data->tape, step);
}

}  // namespace

void synchronize_index_views(Session& session,
                             const std::vector<const c10::StorageImpl*>* touched) {
  thread_local bool running = false;  // the recorder also calls this for the copies
  if (running || !session.activity().has_index_views) return;
  running = true;
  const auto done = c10::make_scope_exit([] { running = false; });
  while (const auto step = next_step(session, touched)) {
    step->run();
    finish(session, *step);
  }
}

}  // namespace leapp::session
