// The tracing session of the process.
//
// It has a lifetime (start, stop), a recorder that observes operators, and data that only a
// SessionLock gives access to. Its results are records (session/record): nodes with their passes,
// which are immutable after a pass is complete.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "base/log_file.h"
#include "leapp/leapp.h"
#include "session/activity.h"
#include "session/record/diagnostic.h"
#include "session/record/node.h"
#include "session/record/node_run.h"
#include "trace/dispatcher.h"

namespace leapp::session {

class FrontEnd;
class Recorder;

class Session {
 public:
  /// Returns the session of the annotations. It is never destroyed, because threads may still refer
  /// to its recorder when the process ends.
  static Session& instance();

  /// Creates a separate session, which annotations do not use: see warm_up.h.
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Begins to trace. Drops the passes of an earlier session. `front_end` may be null; otherwise it
  /// must live until detach_front_end() or the next start(). Throws Error if the options are wrong
  /// or the directory cannot be written.
  void start(const StartOptions& options, FrontEnd* front_end);
  /// Ends tracing and keeps the records. Throws Error if a node is in its first pass.
  void stop();
  /// Ends tracing, if the session is active, and drops the records.
  void drop() noexcept;
  /// Returns whether the session is active. Costs a memory load.
  bool active() const noexcept { return activity_.active.load(std::memory_order_acquire); }
  /// Returns the front end of the last start(), or nullptr. Call it without a SessionLock.
  FrontEnd* front_end() const noexcept { return front_end_.load(std::memory_order_acquire); }
  void detach_front_end() noexcept { front_end_ = nullptr; }
  const Activity& activity() const noexcept { return activity_; }
  /// Returns the observer of the session's operators.
  trace::Observer& recorder() noexcept;

  // For compile_graph(), which runs after stop() on one thread.
  bool started_once();
  /// Returns the nodes, which stay valid and unchanged until the next start().
  std::vector<const Node*> nodes();
  RunLog runs();
  StartOptions options();
  std::string graph_name();
  std::filesystem::path folder();
  void flush_log() { log_file_.flush(); }
  /// Returns the messages since the last start(). Do not add messages while a SessionLock is held.
  Diagnostics& diagnostics() noexcept { return diagnostics_; }

 private:
  friend class SessionLock;

  std::unique_ptr<Guarded<SessionData>> data_;
  std::unique_ptr<Recorder> recorder_;
  Activity activity_;
  std::atomic<FrontEnd*> front_end_ = nullptr;
  LogFile log_file_;
  Diagnostics diagnostics_;
};

}  // namespace leapp::session
