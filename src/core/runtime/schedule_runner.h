// Runs the steps of a pipeline with a schedule: it decides which steps run in a tick, and restores
// their values if the tick fails or is undone. Pipelines without a schedule have none.
//
// Forward values stay in their one buffer, so a step that does not run costs a comparison and its
// readers find its latest output. Feedback inputs have their own buffers, which end_tick() fills.
// No function allocates after construction, locks or makes a system call. Not thread-safe; the plan
// and the buffers must outlive it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "leapp/engine.h"
#include "leapp/result.h"
#include "leapp/tensor.h"
#include "runtime/buffers.h"
#include "runtime/noise_filler.h"
#include "runtime/plan.h"

namespace leapp {

class ScheduleRunner {
 public:
  /// Creates a runner. `memory` is the device that holds the values; null: the host. `noise` fills
  /// the noise ports before each run and must outlive the runner; null: there are none.
  ScheduleRunner(const Plan& plan, const Buffers& buffers, DeviceMemory* memory,
                 NoiseFiller* noise);

  /// Starts a tick: no step has run in it yet.
  void begin_tick() noexcept;
  /// Returns whether the step runs in this tick. Its producers must have run or been skipped
  /// before.
  Result<bool> is_due(std::size_t step) noexcept;
  /// Runs the step as often as its schedule says.
  Result<void> run(std::size_t step, Binding& binding) noexcept;
  /// Ends a tick that succeeded: feedback inputs get the outputs of their sources. If a device
  /// fails, they keep their values and the caller rolls back.
  Result<void> end_tick() noexcept;
  /// Restores everything since begin_tick(), for a tick that failed.
  Result<void> roll_back() noexcept;
  /// Undoes the last tick. Call it only directly after its end_tick().
  Result<void> undo_tick() noexcept;

  /// Starts again with tick 0. The caller sets the values.
  void reset() noexcept;
  /// Runs the step once, whatever its schedule says, to warm it up.
  Result<void> warm_up(std::size_t step, Binding& binding) noexcept;

  bool ran_in_last_tick(std::size_t step) const noexcept { return steps_[step].ran; }
  /// Returns the number of ticks since the step ran: 0 if it ran in the last one; kNeverRan if it
  /// did not run since the reset.
  std::int64_t age(std::size_t step) const noexcept;

  /// Returns the position in the schedule: the tick, when each step last ran, and the value that
  /// each input of an on_change had then. Their names "/tick", "/last_run/.." and "/seen/.." cannot
  /// be names of ports.
  std::vector<std::pair<std::string, Tensor>> position() const;
  /// Restores a position of the same plan. The tensors have the types and shapes of position().
  void set_position(const std::vector<std::pair<std::string, Tensor>>& position) noexcept;

 private:
  struct Watched {
    std::size_t value = 0;
    std::array<std::vector<std::byte>, 2> seen = {};  // by the last run, and by the run before
    std::size_t latest = 0;
  };
  struct Step {
    std::int64_t last_run = kNeverRan;
    std::int64_t former_run = kNeverRan;
    bool ran = false;
    std::vector<Watched> watched = {};
  };

  Result<void> copy(std::size_t to, std::size_t from) noexcept;
  Result<void> write_count(std::size_t value, std::int64_t count) noexcept;
  /// Returns the bytes of a value on the host.
  Result<const std::byte*> bytes_of(std::size_t value) noexcept;
  Result<bool> has_changed(const Step& step) noexcept;
  Result<void> keep_former(std::size_t index) noexcept;
  Result<void> restore_feedback() noexcept;

  const Plan& plan_;
  const Buffers& buffers_;
  DeviceMemory* memory_;
  NoiseFiller* noise_;
  std::vector<std::byte> scratch_;  // memory for the bytes of a device
  std::uint64_t tick_ = 0;          // the next tick; during a tick, that one
  std::vector<Step> steps_;
};

}  // namespace leapp
