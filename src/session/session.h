// The one tracing session of the process, as those see it who work with what it left behind.
//
// That are records (session/record): nodes with their passes, which nothing changes once a pass is
// complete. What persists from tick to tick is inferred from them later. How they come about is in
// live.h.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/log_file.h"
#include "leapp/leapp.h"
#include "session/record/node.h"

namespace leapp::session {

class Session {
 public:
  /// Lives for ever, so that a thread's observer never dangles.
  static Session& instance();

  bool active() const noexcept { return active_.load(std::memory_order_acquire); }
  bool started_once() const noexcept { return !folder_.empty(); }

  // For compile_graph(), which runs after stop() and on one thread.
  std::vector<const Node*> nodes() const;
  const StartOptions& options() const noexcept { return options_; }
  std::string graph_name() const { return folder_.filename().string(); }
  const std::filesystem::path& folder() const noexcept { return folder_; }
  void flush_log() { log_file_.flush(); }
  /// What was said since the session began. Not to be added to while the lock is held.
  Diagnostics& diagnostics() noexcept { return diagnostics_; }

 protected:
  Session() = default;
  ~Session() = default;

  std::atomic<bool> active_ = false;
  StartOptions options_;
  std::filesystem::path folder_;  // empty before the first start()
  LogFile log_file_;
  Diagnostics diagnostics_;
};

}  // namespace leapp::session
