// A running pipeline: buffers, bindings and the tick. It uses only indices and never looks up a
// name.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "leapp/elements.h"
#include "leapp/engine.h"
#include "leapp/inference_manager.h"
#include "leapp/result.h"
#include "leapp/tensor.h"
#include "runtime/buffers.h"
#include "runtime/histogram.h"
#include "runtime/noise_filler.h"
#include "runtime/plan.h"
#include "runtime/schedule_runner.h"
#include "runtime/timeline.h"

namespace leapp {

/// The view of a port that does not exist: empty.
inline const TensorView kNoView{nullptr, DType::kFloat32, {0}};

/// One run of a pipeline. One thread at a time: a call during another call fails. A caller that
/// combines several members holds a Use; of the members, only tick() checks it. Inputs and outputs
/// are indices into the plan's lists of external ports. The plan and the engines must outlive it.
class Session {
 public:
  /// Marks a session as in use by one call, from beginning to end.
  class Use {
   public:
    explicit Use(const Session& session) noexcept
        : session_(session), held_(!session.busy_.exchange(true, std::memory_order_acquire)) {}
    ~Use() {
      if (held_) session_.busy_.store(false, std::memory_order_release);
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

    /// Returns false if another call uses the session: then nothing may be accessed.
    explicit operator bool() const noexcept { return held_; }
    /// Throws Error(kTwoThreads) unless this call may use the session.
    void required() const;

   private:
    const Session& session_;
    bool held_;
  };

  /// Creates a session. Without engines it stores values, but every tick fails with `cannot_run`.
  Session(const Plan& plan, const std::vector<std::unique_ptr<Engine>>& engines,
          const RuntimeOptions& options, std::string cannot_run);

  /// Returns the current value of a port, between two ticks.
  const TensorView& now(const Access& access) const noexcept {
    return buffers_.view(access.value, parity_);
  }
  /// Returns the number of successful ticks.
  std::uint64_t ticks() const noexcept { return ticks_; }
  /// Returns whether an external input was set since the last successful tick.
  bool inputs_changed() const noexcept { return inputs_changed_; }
  /// Returns the value that an input read in the last tick.
  const TensorView& before(const Access& access) const noexcept;
  /// Returns whether a step ran in the last tick.
  bool ran_in_last_tick(std::size_t step) const noexcept {
    return !schedule_runner_ || schedule_runner_->ran_in_last_tick(step);
  }
  /// Returns the number of ticks since the node of an output ran; kNeverRan if it has not run since
  /// restart().
  std::int64_t age(std::size_t output) const noexcept;

  /// Starts again with tick 0 and the initial values of the plan's held outputs, in its order. The
  /// caller stores those of the feedback inputs.
  Result<void> restart(const std::vector<Tensor>& held) noexcept;
  /// Returns the position in the schedule and the held outputs, under names that ports cannot have;
  /// without a schedule, the tick, if there are noise ports.
  TensorMap position() const;
  /// Restores such a state. Names, types and shapes must be those of position(). Throws Error for
  /// an impossible position.
  void set_position(const TensorMap& state);

  /// Returns "cpu", or the device that holds the values.
  std::string device() const { return memory_ ? memory_->device() : "cpu"; }
  /// Copies values between the host and the device that holds them.
  Result<void> store(const TensorView& value, const void* host) noexcept;
  Result<void> fetch(const TensorView& value, void* host) const noexcept;
  /// Returns a copy on the host. Throws Error.
  Tensor read(const TensorView& value) const;

  /// Replaces a port's memory by the caller's, or ends that. Throws Error.
  void bind_input(std::size_t input, const ConstElements& memory);
  void bind_output(std::size_t output, const Elements& memory);
  void unbind_input(std::size_t input);
  void unbind_output(std::size_t output);
  bool input_is_bound(std::size_t input) const noexcept { return inputs_[input].bound; }

  /// Copies elements of the port's type and number from the host, or from memory of the device.
  Result<void> set_input(std::size_t input, const ConstElements& elements) noexcept {
    return copy_input(input, elements, DeviceMemory::Copy::kToDevice);
  }
  Result<void> set_device_input(std::size_t input, const ConstElements& elements) noexcept {
    return copy_input(input, elements, DeviceMemory::Copy::kWithin);
  }
  /// Copies an output to the host, or to memory of the device.
  Result<void> get_output(std::size_t output, const Elements& memory) const noexcept;
  Result<void> get_device_output(std::size_t output, const Elements& memory) const noexcept;
  /// Returns the elements of an output on the host, if they have that type.
  Result<const void*> output_data(std::size_t output, DType dtype) const noexcept;
  const TensorView& input(std::size_t input) noexcept;
  Result<void> touch(std::size_t input) noexcept;
  /// Keeps the value of an input across clear_inputs(), until it is set or touched again.
  void hold(std::size_t input) noexcept { inputs_[input].held = true; }
  /// Clears the inputs, except those that are held or bound. Cleared noise ports are drawn again.
  void clear_inputs() noexcept;
  /// Sets the seed of the noise ports, from the next tick on.
  void set_noise_seed(std::uint64_t seed) noexcept { noise_.set_seed(seed); }
  /// Sets the values of a noise port for each run of its node in the next ticks. `port` is an index
  /// into Plan::noise.
  void set_noise_runs(std::size_t port, const void* values) noexcept {
    noise_.set_runs(port, values);
  }
  /// Sets all unbound inputs to zero, and requires that they are set again. Throws Error.
  void zero_inputs();
  const TensorView& output(std::size_t output) const noexcept;

  /// Runs a tick. Requires a Use.
  Result<void> tick() noexcept;
  /// Undoes the last tick, if nothing was set since.
  Result<void> undo_tick() noexcept;
  /// Returns whether all feedback values are finite.
  bool is_state_finite() const noexcept;
  /// Runs only the nodes, in the current buffers: no checks, no statistics, no swap.
  Result<void> run_nodes() noexcept;
  /// Runs every node once, whatever its schedule says, and swaps.
  Result<void> warm_up() noexcept;
  /// The values that a run of the nodes changes, to restore them later. Inputs in memory of the
  /// caller are left out.
  struct Values {
    std::size_t parity = 0;
    std::vector<std::array<Tensor, 2>> halves;  ///< for every value of the plan
  };
  Values values() const;
  void set_values(const Values& former);
  /// Records the nodes on a device that supports it, for both buffers; they must have run before.
  /// Logs a failure.
  void record();

  static Failure two_threads() noexcept;

  Statistics statistics() const;
  void reset_statistics();

  /// Writes a timeline from now on; an empty path ends it. Nodes then run one by one, also if a
  /// device has recorded them. Throws Error (LP962).
  void trace_to(const std::filesystem::path& file, const std::string& title);

 private:
  using Clock = std::chrono::steady_clock;

  struct ExternalInput {
    std::size_t value = 0;
    std::size_t bytes = 0;
    bool supplied = false;
    bool held = false;
    bool bound = false;
    bool ages = false;  // has a limit, so its time is read from the clock
    std::chrono::nanoseconds limit{};
    Clock::time_point fresh{};
  };
  struct ExternalOutput {
    Access access;
    std::size_t step = 0;
    void* copy_to = nullptr;  // the caller's memory, for an output that is also fed back
  };

  void make_bindings(const std::vector<std::unique_ptr<Engine>>& engines);
  void mark_fresh(ExternalInput& external) noexcept;
  Result<void> copy_input(std::size_t input, const ConstElements& elements,
                          DeviceMemory::Copy way) noexcept;
  Result<void> check_output(std::size_t output, const Elements& memory) const noexcept;
  void place(std::size_t value, void* data);
  Result<void> check_before() const noexcept;
  Result<void> check_after() const noexcept;
  Result<void> check_finite(std::size_t value, std::size_t half,
                            const std::string& name) const noexcept;
  Result<void> check_held_finite(const ScheduleRunner& schedule) const noexcept;
  Result<void> compute() noexcept;
  Result<void> draw_noise() noexcept;
  Result<void> run_scheduled(ScheduleRunner& schedule) noexcept;
  Result<bool> run_step(std::size_t step) noexcept;
  Result<void> run_measured() noexcept;
  Result<void> commit() noexcept;
  Result<void> run_tick() noexcept;
  bool finish(Clock::time_point start, Clock::time_point end) noexcept;

  const Plan& plan_;
  const RuntimeOptions& options_;
  std::string cannot_run_;
  std::string takes_;                     // "; the pipeline takes: ..", for messages
  std::shared_ptr<DeviceMemory> memory_;  // null: memory of the host
  Buffers buffers_;
  std::size_t parity_ = 0;  // the buffer with the results of the last tick
  std::uint64_t ticks_ = 0;
  std::uint64_t position_ = 0;  // number of the next tick, from 0 at the last restart()
  bool inputs_changed_ = false;
  bool can_undo_ = false;  // no value was set since the last tick

  std::vector<std::unique_ptr<Binding>> bindings_;
  // The bindings to run, in order, for buffer 0 and buffer 1. Steps without feedback have the same
  // binding in both.
  std::array<std::vector<Binding*>, 2> schedule_;

  NoiseFiller noise_;
  std::unique_ptr<ScheduleRunner> schedule_runner_;  // null: every step runs in every tick

  std::array<std::unique_ptr<Recording>, 2> recordings_;  // of the schedules, where there are

  std::vector<ExternalInput> inputs_;
  std::vector<ExternalOutput> outputs_;
  mutable std::vector<std::byte> scratch_;  // copies of a device's values
  // Positions of the next values of the feedback inputs after a tick, in the plan's order.
  std::vector<std::size_t> next_state_;
  std::vector<std::size_t> state_;  // values of the feedback inputs themselves

  bool observed_ = false;  // true if a tick reads the clock at all
  std::uint64_t observed_ticks_ = 0;
  std::uint64_t deadline_misses_ = 0;
  std::optional<Histogram> tick_latency_;
  std::vector<Histogram> step_latency_;
  std::unique_ptr<Timeline> timeline_;  // null: no timeline is written

  mutable std::atomic<bool> busy_{false};  // the flag that every call checks
};

}  // namespace leapp
