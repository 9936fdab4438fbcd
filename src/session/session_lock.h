// Access to a session's data.
#pragma once

#include <optional>

#include "base/guarded.h"
#include "leapp/error.h"
#include "session/placed_error.h"
#include "session/session.h"
#include "session/session_data.h"
#include "trace/dispatcher.h"
#include "trace/source.h"

namespace leapp::session {

/// Locks the session's mutex and hides the thread's operators from the recorder, which would
/// otherwise wait for the mutex. On release it publishes the session's activity and then delivers
/// the queued messages.
class SessionLock {
 public:
  explicit SessionLock(Session& session = Session::instance());
  ~SessionLock();
  SessionLock(const SessionLock&) = delete;
  SessionLock& operator=(const SessionLock&) = delete;
  SessionData& operator*() const noexcept { return **access_; }
  SessionData* operator->() const noexcept { return &**access_; }

 private:
  Session& session_;
  std::optional<trace::Unobserved> unobserved_{std::in_place};
  std::optional<Guarded<SessionData>::Access> access_;
};

/// Runs `work` on the session's data. Converts a PlacedError to an Error that begins with the
/// user's line, which is `frame` if the error has no line.
template <typename Work>
auto locked(Session& session, trace::FrameRef frame, Work&& work) {
  try {
    const SessionLock data(session);
    return work(*data);
  } catch (const PlacedError& error) {
    const bool has_place = error.where.code != nullptr;
    throw Error(error.code, trace::line_prefix(has_place ? error.where : frame) + error.text);
  }
}

}  // namespace leapp::session
