#include "controller/policy_runner.h"

namespace leapp {

PolicyRunner::PolicyRunner(InferenceManager& manager, Execution execution,
                           std::chrono::nanoseconds poll)
    : manager_(manager), guards_state_(manager.is_state_finite()) {
  if (execution == Execution::kWorker) worker_ = std::thread([this, poll] { work(poll); });
}

PolicyRunner::~PolicyRunner() {
  if (!worker_.joinable()) return;
  finish();
  phase_.store(Phase::kEnd, std::memory_order_release);
  worker_.join();
}

void PolicyRunner::request() noexcept {
  if (worker_.joinable()) {
    phase_.store(Phase::kRequested, std::memory_order_release);
    return;
  }
  result_ = run();
  phase_.store(Phase::kDone, std::memory_order_relaxed);
}

Result<void> PolicyRunner::take() noexcept {
  const Result<void> result = result_;
  phase_.store(Phase::kIdle, std::memory_order_relaxed);
  return result;
}

void PolicyRunner::finish() noexcept {
  while (phase() == Phase::kRequested) std::this_thread::yield();
  phase_.store(Phase::kIdle, std::memory_order_relaxed);
}

Result<void> PolicyRunner::run() noexcept {
  const Result<void> ticked = manager_.tick();
  if (!ticked || !guards_state_ || manager_.is_state_finite()) return ticked;
  if (const Result<void> undone = manager_.undo_tick(); !undone) return undone;
  return Failure(
      Code::kNotFinite,
      "the policy's state became NaN or infinite. It keeps its value from before this tick");
}

void PolicyRunner::work(std::chrono::nanoseconds poll) noexcept {
  while (true) {
    const Phase phase = this->phase();
    if (phase == Phase::kEnd) return;
    if (phase == Phase::kRequested) {
      result_ = run();
      phase_.store(Phase::kDone, std::memory_order_release);
    } else if (poll.count() > 0) {
      // Waking it up would need a system call in update().
      std::this_thread::sleep_for(poll);
    }
  }
}

}  // namespace leapp
