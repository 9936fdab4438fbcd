// Runs the policy, either immediately or in a separate thread.
//
// One requester and one worker share one atomic. While its value is idle or done, the requester may
// use the manager, its inputs and its outputs; while it is requested, only the worker may. A tick
// reads phase() once and uses that value.
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

  /// Runs the policy on the inputs in the manager. Call it only when idle. Without a worker, the
  /// phase is done on return.
  void request() noexcept;

  /// Returns the result of the last request, and makes the runner idle. Call it only when done. A
  /// failure with Code::kNotFinite leaves the policy's state as it was before that request.
  Result<void> take() noexcept;

  /// Waits until no request is in progress, and makes the runner idle. Not for real time.
  void finish() noexcept;

 private:
  void work(std::chrono::nanoseconds poll) noexcept;
  Result<void> run() noexcept;

  InferenceManager& manager_;
  bool guards_state_;  // false for a policy whose initial state is not finite
  std::atomic<Phase> phase_{Phase::kIdle};
  Result<void> result_;  // guarded by phase_
  std::thread worker_;   // last member: its thread uses the others
};

}  // namespace leapp
