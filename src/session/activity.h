// Facts about a session that may be read without its lock.
#pragma once

#include <atomic>

namespace leapp::session {

struct SessionData;

/// A copy of facts in SessionData, written whenever a SessionLock is released. Operators and
/// annotations read it to decide if they need the lock.
struct Activity {
  std::atomic<bool> active = false;    ///< a session is tracing
  std::atomic<int> open_passes = 0;    ///< number of open passes
  std::atomic<bool> records = false;   ///< one of them records its operators
  std::atomic<bool> has_tags = false;  ///< at least one tensor has a tag
  std::atomic<bool> has_index_views =
      false;                             ///< at least one copy must be kept equal to its source
  std::atomic<bool> sizes_vary = false;  ///< traced values decided a size

  void publish(const SessionData& data) noexcept;
};

}  // namespace leapp::session
