// A bundle on a robot with its engine, its worker, and the memory between them and a tick.
//
// It connects the pure functions of step.h with an engine, for one policy. Controller has one,
// Supervisor has several. Only the thread of update() may use it.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "controller/policy_runner.h"
#include "controller/recorder.h"
#include "controller/signal_memory.h"
#include "controller/step.h"
#include "leapp/inference_manager.h"
#include "leapp/robot_binding.h"

namespace leapp {

/// Throws Error (LP651, LP653) unless robot and options are valid. Returns the options with a
/// clock.
ControllerOptions checked(const Robot& robot, ControllerOptions options);

class BoundPolicy {
 public:
  /// Loads a bundle and binds it to the robot. Throws the errors of Controller. Starts the worker's
  /// thread.
  BoundPolicy(const std::filesystem::path& bundle, const Robot& robot,
              const ControllerOptions& options);

  const Bundle& bundle() const noexcept { return manager_.bundle(); }
  const RobotBinding& binding() const noexcept { return binding_; }

  /// Waits until no request is in progress. Not for real time.
  void finish() noexcept { runner_.finish(); }
  /// Waits, and resets the policy. Not for real time.
  void start();
  /// Returns whether the worker is running the policy, so that restart() would have to wait.
  bool is_busy() const noexcept { return runner_.phase() == PolicyRunner::Phase::kRequested; }
  /// Sets the policy's state to its initial values, and drops a result. Only while not busy, after
  /// start(). Allocates nothing.
  void restart() noexcept;

  /// Runs one tick: gathers inputs, runs the policy, sends outputs. Records the ports as those of
  /// policy `index`.
  StepOutcome tick(const TickPlan& plan, TickState& state, SignalMemory& signals,
                   std::chrono::nanoseconds now, Recorder* recorder, std::size_t index) noexcept;

  /// Returns the outputs of the binding if the last tick() had a good result, otherwise nothing.
  std::span<const void* const> result() const noexcept { return result_; }
  /// Returns the message of the policy's most recent failed tick, or an empty string.
  std::string_view failure() const noexcept {
    return failure_ ? failure_->message() : std::string_view();
  }

 private:
  RobotBinding bind_all(const Robot& robot) const;
  void find_ports();
  PolicyResult poll_worker() noexcept;
  PolicyResult run_policy(std::chrono::nanoseconds began) noexcept;
  PolicyResult take_result() noexcept;
  void request_worker() noexcept;
  void record_ports(Recorder& recorder, std::size_t index, std::uint64_t requested,
                    std::chrono::nanoseconds now) noexcept;

  std::function<std::chrono::nanoseconds()> clock_;
  std::optional<std::chrono::nanoseconds> deadline_;
  bool worker_;
  InferenceManager manager_;
  RobotBinding binding_;
  std::optional<Failure> failure_;
  std::vector<InputPort> input_ports_;    // in the order of the binding
  std::vector<OutputPort> output_ports_;  // the same
  std::vector<std::vector<std::byte>> gathered_;
  std::vector<void*> input_memory_;
  std::vector<const void*> output_memory_;
  std::span<const void* const> result_;
  PolicyRunner runner_;  // last member: its thread uses the others
};

}  // namespace leapp
