// One tick of the loop as two pure functions: inputs for the policy, then outputs and counts.
//
//   const bool ask = gather(plan, state, sensors, clock, busy, policy_inputs);
//   // if ask: run the policy on policy_inputs, now or after the step
//   const StepOutcome outcome = step(plan, state, sensors, result, actuators);
//
// Both write only to the state and to memory that the caller provides: they use no clock, thread,
// allocation or engine. The Controller connects them with these. docs/reference/controller.md has
// their rules, by number.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "controller/output_side.h"
#include "controller/tick_state.h"

namespace leapp {

/// The policy's answer in this tick, if there is one.
struct PolicyResult {
  enum class Kind : std::uint8_t {
    kNone,       ///< no request is in progress
    kBusy,       ///< the worker is still running the policy
    kGood,       ///< `outputs` contain the result
    kFailed,     ///< the policy failed
    kNotFinite,  ///< the policy's state would have become NaN or infinite, so it was kept
  };
  Kind kind = Kind::kNone;
  bool late = false;                          ///< synchronous execution: longer than the deadline
  std::span<const void* const> outputs = {};  ///< one address for each output of the binding
};

struct StepOutcome {
  ControllerState state = ControllerState::kInactive;
  /// True if the result is not finite: the policy's state must be restored.
  bool discard = false;
  /// With a worker: true if the policy must now run on the inputs that gather() wrote.
  bool request = false;
};

/// Reads the sensors, and writes the inputs of the policy if it is due: R1 to R9. Returns whether
/// the policy must run on them.
bool gather(const TickPlan& plan, TickState& state, std::span<const SensorValues> sensors,
            std::chrono::nanoseconds clock, bool busy,
            std::span<void* const> policy_inputs) noexcept;

/// Processes the result, decides what to send, and only then writes the actuators: R10 to R19.
/// Without a worker, `result` answers the request that gather() made in this tick.
StepOutcome step(const TickPlan& plan, TickState& state, std::span<const SensorValues> sensors,
                 const PolicyResult& result, Actuators actuators) noexcept;

}  // namespace leapp
