#include "controller/step.h"

#include "controller/input_side.h"

namespace leapp {
namespace {

bool is_due(const TickPlan& plan, const TickState& state) noexcept {
  return (state.tick - state.began) % plan.decimation == 0;
}

/// Makes the request of this tick the one whose result is expected.
void begin_request(TickState& state) noexcept {
  if (!state.asked) return;
  state.requested = state.tick;
  state.waited = std::chrono::nanoseconds(0);
  state.late = false;
}

/// Returns whether a worker's result is late: after the deadline or, without one, after a period or
/// when the policy is due again.
bool is_late(const TickPlan& plan, const TickState& state) noexcept {
  if (plan.deadline) return state.waited >= *plan.deadline;
  return state.waited >= plan.period || is_due(plan, state);
}

/// Processes the policy's answer: R10, R11. Returns true if the result must be discarded.
bool take(const TickPlan& plan, TickState& state, std::span<const SensorValues> sensors,
          const PolicyResult& result) noexcept {
  if (result.late) state.log.add(state.tick, Cause::kLate, {});
  switch (result.kind) {
    case PolicyResult::Kind::kNone:
      return false;
    case PolicyResult::Kind::kBusy:
      if (state.late || !is_late(plan, state)) return false;
      state.late = state.bad = true;
      state.log.add(state.tick, Cause::kLate, {});
      return false;
    case PolicyResult::Kind::kFailed:
      state.bad = true;
      state.log.add(state.tick, Cause::kTickFailed, {});
      return false;
    case PolicyResult::Kind::kNotFinite:
      state.bad = true;
      state.log.add(state.tick, Cause::kNotFinite, {});
      return false;
    case PolicyResult::Kind::kGood:
      break;
  }
  if (!load_result(plan, state, result.outputs)) {
    state.bad = true;
    return true;
  }
  const bool begins = state.bad || !state.has_targets;
  accept_result(state, state.requested);
  if (begins) begin_blend(plan, state, sensors);
  state.bad = false;
  return false;
}

/// Decides what this tick sends, and sends it: R12.
void send_decided(const TickPlan& plan, TickState& state, std::span<const SensorValues> sensors,
                  Actuators actuators) noexcept {
  if (state.state != ControllerState::kStopped && !state.bad) {
    if (!state.has_targets) {
      state.state = ControllerState::kWaiting;
      return send_measured(plan, state, sensors, actuators);
    }
    const PlayOutcome outcome = play(plan, state, sensors);
    if (outcome == PlayOutcome::kGood) {
      state.state = ControllerState::kRunning;
      return send_all(plan, state, actuators);
    }
    if (outcome == PlayOutcome::kStop) state.state = ControllerState::kStopped;
    state.bad = true;
  }
  if (state.state != ControllerState::kStopped) state.state = ControllerState::kFallback;
  send_fallbacks(plan, state, sensors, actuators);
}

}  // namespace

bool gather(const TickPlan& plan, TickState& state, std::span<const SensorValues> sensors,
            std::chrono::nanoseconds clock, bool busy,
            std::span<void* const> policy_inputs) noexcept {
  advance_time(state, sensors, clock);
  sample_histories(plan, state, sensors);
  state.asked = state.unusable = false;
  if (busy || state.state == ControllerState::kStopped || !is_due(plan, state)) return false;
  state.unusable = true;
  if (are_stale(plan, state)) return false;
  const FillOutcome filled = fill_inputs(plan, state, sensors, policy_inputs);
  if (filled == FillOutcome::kStop) state.state = ControllerState::kStopped;
  if (filled != FillOutcome::kGood) return false;
  state.unusable = false;
  state.asked = true;
  return true;
}

StepOutcome step(const TickPlan& plan, TickState& state, std::span<const SensorValues> sensors,
                 const PolicyResult& result, Actuators actuators) noexcept {
  StepOutcome outcome;
  if (!plan.worker) begin_request(state);
  outcome.discard = take(plan, state, sensors, result);
  if (state.unusable) state.bad = true;
  send_decided(plan, state, sensors, actuators);
  if (plan.worker && state.state != ControllerState::kStopped) {
    begin_request(state);
    outcome.request = state.asked;
  }
  ++state.tick;
  outcome.state = state.state;
  return outcome;
}

}  // namespace leapp
