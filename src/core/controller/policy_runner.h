// Runs the policy: at once, or in a thread of its own.
//
// One requester and one worker share one atomic. While it says idle or done the requester may touch
// the manager, its inputs and its outputs; while it says requested they are the worker's. A tick
// reads phase() once and acts on what it read.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "leapp/controller.h"

namespace leapp {

class PolicyRunner {
 public:
  enum class Phase : int { kIdle, kRequested, kDone, kEnd };

  /// Creates a runner. The manager must outlive it. Starts a worker's thread.
  PolicyRunner(InferenceManager& manager, Execution execution, std::chrono::nanoseconds poll);
  ~PolicyRunner();
  PolicyRunner(const PolicyRunner&) = delete;
  PolicyRunner& operator=(const PolicyRunner&) = delete;

  Phase phase() const noexcept { return phase_.load(std::memory_order_acquire); }

  /// Runs the policy on the inputs that lie in the manager. Only when idle. Without a worker it is
  /// done on return.
  void request() noexcept;

  /// Returns the result of the last request, and makes the runner idle. Only when done. A failure
  /// with Code::kNotFinite leaves the policy's state as it was before that request.
  Result<void> take() noexcept;

  /// Waits until no request is under way, and makes it idle. Not for real time.
  void finish() noexcept;

 private:
  void work(std::chrono::nanoseconds poll) noexcept;
  Result<void> run() noexcept;

  InferenceManager& manager_;
  bool guards_state_;  // false for a policy whose initial state is not finite
  std::atomic<Phase> phase_{Phase::kIdle};
  Result<void> result_;  // guarded by phase_
  std::thread worker_;   // last: it uses the others
};

}  // namespace leapp
