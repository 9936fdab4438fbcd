// The choice of the active policy in a tick, as a pure function like those of step.h.
//
//   const bool begins = supervise(plan, state, inputs, clock);
//   TickState& tick = state.policies[state.active];
//   // if begins: set the state of the policy itself to its initial values
//   const bool ask = gather(plan.policies[state.active], tick, ...);
//   const StepOutcome sent = step(plan.policies[state.active], tick, ...);
//   note_result(plan, state, result);  // a good one
//
// The functions write only to the state: they use no clock, thread, allocation or engine.
// docs/reference/supervisor.md has their rules, by number.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "controller/event_log.h"
#include "controller/supervisor_plan.h"
#include "controller/tick_state.h"
#include "leapp/supervisor.h"

namespace leapp {

/// Input of a tick from the program on the robot.
struct SupervisorInputs {
  std::span<const SensorValues> sensors;
  std::span<const std::uint8_t> flags;      ///< by flag: true if it is set
  std::span<const std::uint8_t> busy;       ///< by policy: true if its worker is busy
  std::optional<std::size_t> request = {};  ///< a policy
  bool stop = false;                        ///< emergency_stop() was called
  bool clear = false;                       ///< clear_emergency_stop() was called
};

struct SupervisorState {
  explicit SupervisorState(const SupervisorPlan& plan);

  /// Resets everything to the state before the first tick, except an emergency stop. Keeps the
  /// memory.
  void restart();

  std::size_t active = 0;
  bool emergency = false;             ///< an emergency stop is active until the operator clears it
  std::vector<TickState> policies;    ///< only the state of the active policy is up to date
  std::vector<std::uint8_t> met;      ///< by rule: the newest result met its port condition
  std::vector<std::uint8_t> refused;  ///< by rule: it was refused in the last tick
  std::vector<std::vector<double>>
      sent;  ///< by actuator: values before the last switch; NaN if none
  EventLog<SwitchRecord, kSwitchEvents> log;
};

/// Decides which policy is active in this tick, and switches to it: S3 to S9. Returns whether a
/// policy starts; the caller must then reset its state.
bool supervise(const SupervisorPlan& plan, SupervisorState& state, const SupervisorInputs& inputs,
               std::chrono::nanoseconds clock) noexcept;

/// Evaluates the port conditions on a good result of the active policy: S4. `outputs` has one
/// address for each output of its binding.
void note_result(const SupervisorPlan& plan, SupervisorState& state,
                 std::span<const void* const> outputs) noexcept;

}  // namespace leapp
