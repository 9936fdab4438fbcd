// Which policy is active in a tick, as a pure function beside those of step.h.
//
//   const bool begins = supervise(plan, state, inputs, clock);
//   TickState& tick = state.policies[state.active];
//   // if begins: set the state of the policy itself to its initial values
//   const bool ask = gather(plan.policies[state.active], tick, ...);
//   const StepOutcome sent = step(plan.policies[state.active], tick, ...);
//   note_result(plan, state, result);  // a good one
//
// The functions write only into the state: no clock, thread, allocation or engine inside.
// docs/reference/supervisor.md has the rules they keep, by number.
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

/// What the program on the robot says in a tick.
struct SupervisorInputs {
  std::span<const SensorValues> sensors;
  std::span<const std::uint8_t> flags;      ///< by flag: whether it is set
  std::span<const std::uint8_t> busy;       ///< by policy: whether its worker is
  std::optional<std::size_t> request = {};  ///< a policy
  bool stop = false;                        ///< an emergency stop was called for
  bool clear = false;                       ///< the operator clears it
};

struct SupervisorState {
  explicit SupervisorState(const SupervisorPlan& plan);

  /// Forgets everything, as before the first tick, but an emergency stop. Keeps the memory.
  void restart();

  std::size_t active = 0;
  bool emergency = false;             ///< stopped until the operator clears it
  std::vector<TickState> policies;    ///< only that of the active one is up to date
  std::vector<std::uint8_t> met;      ///< by rule: its port met the condition in the newest result
  std::vector<std::uint8_t> refused;  ///< by rule: it was refused in the last tick
  std::vector<std::vector<double>> sent;  ///< by actuator, before the last switch; NaN: nothing
  EventLog<SwitchRecord, kSwitchEvents> log;
};

/// Decides which policy is active in this tick, and hands over to it: S3 to S9. Returns whether a
/// policy begins, which then has to begin anew.
bool supervise(const SupervisorPlan& plan, SupervisorState& state, const SupervisorInputs& inputs,
               std::chrono::nanoseconds clock) noexcept;

/// Looks at the ports of a good result of the active policy: S4. `outputs` has one address for each
/// output of its binding.
void note_result(const SupervisorPlan& plan, SupervisorState& state,
                 std::span<const void* const> outputs) noexcept;

}  // namespace leapp
