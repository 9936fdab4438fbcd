#include "session/session_lock.h"

namespace leapp::session {

void Activity::publish(const SessionData& data) noexcept {
  active.store(data.active, std::memory_order_release);
  open_passes.store(data.nodes.open_passes(), std::memory_order_release);
  records.store(data.nodes.recorded_passes() > 0, std::memory_order_relaxed);
  has_tags.store(!data.tags.empty(), std::memory_order_relaxed);
  has_index_views.store(!data.tape.views.empty(), std::memory_order_relaxed);
  sizes_vary.store(data.sizes_vary, std::memory_order_relaxed);
}

SessionLock::SessionLock(Session& session) : session_(session) {
  access_.emplace(*session.data_);
}

SessionLock::~SessionLock() {
  const std::vector<Message> messages = (*access_)->messages.take();
  session_.activity_.publish(**access_);
  access_.reset();
  unobserved_.reset();
  deliver(messages, session_.diagnostics_);
}

}  // namespace leapp::session
