// One tick of the loop as two pure functions: what goes out, and what is counted.
//
//   const bool ask = gather(plan, state, sensors, clock, busy, policy_inputs);
//   // if ask: run the policy on policy_inputs, now or after the step
//   const StepOutcome outcome = step(plan, state, sensors, result, actuators);
//
// Both write only into the memory they are given: no clock, thread, allocation or engine inside.
// The Controller is the shell around them. docs/reference/controller.md has the rules they keep, by
// number.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "controller/output_side.h"
#include "controller/tick_state.h"

namespace leapp {

/// The policy's answer, as far as there is one in this tick.
struct PolicyResult {
  enum class Kind : std::uint8_t {
    kNone,       ///< no request is under way
    kBusy,       ///< the worker still runs the policy
    kGood,       ///< `outputs` hold the result
    kFailed,     ///< the policy failed
    kNotFinite,  ///< the policy's state would have become NaN or infinite, and was kept instead
  };
  Kind kind = Kind::kNone;
  bool late = false;  ///< synchronous execution: it took longer than the deadline
  std::span<const void* const> outputs = {};  ///< one address for each output of the binding
};

struct StepOutcome {
  ControllerState state = ControllerState::kInactive;
  /// The result is not finite: the policy's state must go back to where it was before.
  bool discard = false;
  /// With a worker: the policy shall now run on the inputs that gather() wrote.
  bool request = false;
};

/// Reads the sensors, and writes the inputs of the policy if it is due: R1 to R9. Returns whether
/// it shall run on them.
bool gather(const TickPlan& plan, TickState& state, std::span<const SensorValues> sensors,
            std::chrono::nanoseconds clock, bool busy,
            std::span<void* const> policy_inputs) noexcept;

/// Takes the result, decides what goes out, and only then writes the actuators: R10 to R19.
/// Without a worker, `result` is that of the request that gather() made in this tick.
StepOutcome step(const TickPlan& plan, TickState& state, std::span<const SensorValues> sensors,
                 const PolicyResult& result, Actuators actuators) noexcept;

}  // namespace leapp
