#include "controller/supervise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "controller/element_io.h"
#include "controller/input_side.h"

namespace leapp {
namespace {

using Source = SwitchCondition::Source;
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// Tests one number: S4. NaN only meets a condition for an emergency stop.
bool is_met(const RulePlan& rule, double value) noexcept {
  if (std::isnan(value)) return !rule.to;
  return value > rule.when.above || value < rule.when.below;
}

bool is_met(const SupervisorPlan& plan, const SupervisorState& state,
            const SupervisorInputs& inputs, std::size_t index) noexcept {
  const RulePlan& rule = plan.rules[index];
  const ConditionPlan& when = rule.when;
  switch (when.source) {
    case Source::kFlag:
      return inputs.flags[when.index] != 0;
    case Source::kPort:
      return state.met[index] != 0;
    case Source::kSensor:
      break;
  }
  if (!state.policies[state.active].sensors[when.index].measured) return false;
  const std::vector<double>& values = inputs.sensors[when.index].values;
  for (std::size_t i = when.first; i < when.first + when.count; ++i) {
    if (is_met(rule, values[i])) return true;
  }
  return false;
}

bool applies(const RulePlan& rule, std::size_t active) noexcept {
  return rule.from ? *rule.from == active : rule.to != active;
}

void add(SupervisorState& state, SwitchEvent event, std::size_t policy,
         std::optional<std::size_t> rule) noexcept {
  const std::uint64_t tick = state.policies[state.active].tick;
  state.log.add(static_cast<std::size_t>(event), {tick, event, policy, rule});
}

/// Returns whether a policy can become active now: S6.
bool is_ready(const SupervisorPlan& plan, const SupervisorState& state,
              const SupervisorInputs& inputs, std::size_t policy) noexcept {
  if (state.emergency || inputs.busy[policy] != 0) return false;
  const TickState& now = state.policies[state.active];
  for (const InputPlan& input : plan.policies[policy].inputs) {
    if (is_stale(input, now)) return false;
    for (const SensorElement& source : input.sources) {
      const double value = inputs.sensors[source.sensor].values[source.element] * source.factor;
      if (!std::isfinite(value)) return false;
    }
  }
  return true;
}

/// Stores what the active policy sent, in the units of the actuators.
void save_sent(const SupervisorPlan& plan, SupervisorState& state) noexcept {
  const TickState& from = state.policies[state.active];
  for (std::size_t o = 0; o < from.outputs.size(); ++o) {
    if (!from.outputs[o].has_sent || from.outputs[o].from_other) continue;
    const std::vector<TargetPlan>& targets = plan.policies[state.active].outputs[o].targets;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      state.sent[targets[i].actuator][targets[i].element] =
          from.outputs[o].sent[i] / targets[i].factor;
    }
  }
}

/// Lets an output of the next policy continue from the values sent last.
void load_sent(const OutputPlan& plan, OutputState& output, const SupervisorState& state) noexcept {
  output.has_sent = output.from_other = true;
  for (std::size_t i = 0; i < plan.targets.size(); ++i) {
    const TargetPlan& target = plan.targets[i];
    output.sent[i] = state.sent[target.actuator][target.element] * target.factor;
    output.has_sent = output.has_sent && std::isfinite(output.sent[i]);
  }
}

/// Makes a policy the active one: S8.
void hand_over(const SupervisorPlan& plan, SupervisorState& state, std::size_t policy) noexcept {
  TickState& to = state.policies[policy];
  if (policy != state.active) {
    const TickState& from = state.policies[state.active];
    save_sent(plan, state);
    to.tick = from.tick;
    to.clock = from.clock;
    std::copy(from.sensors.begin(), from.sensors.end(), to.sensors.begin());
    for (std::size_t o = 0; o < to.outputs.size(); ++o) {
      load_sent(plan.policies[policy].outputs[o], to.outputs[o], state);
    }
  }
  to.handed_over = true;
  to.begin_policy();
  state.active = policy;
  std::fill(state.met.begin(), state.met.end(), std::uint8_t{0});
}

/// Latches or clears the emergency stop: S5.
void judge_emergency(const SupervisorPlan& plan, SupervisorState& state,
                     const SupervisorInputs& inputs) noexcept {
  if (inputs.clear && state.emergency) {
    state.emergency = false;
    add(state, SwitchEvent::kCleared, state.active, {});
  }
  const auto stop = [&](std::optional<std::size_t> rule) {
    if (!state.emergency) add(state, SwitchEvent::kEmergencyStop, state.active, rule);
    state.emergency = true;
  };
  if (inputs.stop) stop({});
  for (std::size_t r = 0; r < plan.rules.size(); ++r) {
    const RulePlan& rule = plan.rules[r];
    const bool here = !rule.from || *rule.from == state.active;
    if (!rule.to && here && is_met(plan, state, inputs, r)) stop(r);
  }
  if (state.emergency) state.policies[state.active].state = ControllerState::kStopped;
}

bool follow_request(const SupervisorPlan& plan, SupervisorState& state,
                    const SupervisorInputs& inputs) noexcept {
  if (!inputs.request) return false;
  const std::size_t policy = *inputs.request;
  const bool stopped = state.policies[state.active].state == ControllerState::kStopped;
  if (policy == state.active && !stopped) return false;
  const bool ready = is_ready(plan, state, inputs, policy);
  add(state, ready ? SwitchEvent::kSwitched : SwitchEvent::kRefused, policy, {});
  if (ready) hand_over(plan, state, policy);
  return ready;
}

/// Carries out the first rule that applies, is met, and is not refused: S7.
bool follow_rules(const SupervisorPlan& plan, SupervisorState& state,
                  const SupervisorInputs& inputs) noexcept {
  for (std::size_t r = 0; r < plan.rules.size(); ++r) {
    const RulePlan& rule = plan.rules[r];
    if (!rule.to || !applies(rule, state.active) || !is_met(plan, state, inputs, r)) {
      state.refused[r] = 0;
      continue;
    }
    if (is_ready(plan, state, inputs, *rule.to)) {
      add(state, SwitchEvent::kSwitched, *rule.to, r);
      hand_over(plan, state, *rule.to);
      std::fill(state.refused.begin() + static_cast<std::ptrdiff_t>(r), state.refused.end(),
                std::uint8_t{0});
      return true;
    }
    if (state.refused[r] == 0) add(state, SwitchEvent::kRefused, *rule.to, r);
    state.refused[r] = 1;
  }
  return false;
}

}  // namespace

SupervisorState::SupervisorState(const SupervisorPlan& plan)
    : met(plan.rules.size()), refused(plan.rules.size()) {
  for (const TickPlan& policy : plan.policies) policies.emplace_back(policy);
  for (const std::size_t elements : plan.policies[0].actuators) sent.emplace_back(elements);
  restart();
}

void SupervisorState::restart() {
  active = 0;
  for (TickState& policy : policies) policy.restart();
  std::fill(met.begin(), met.end(), std::uint8_t{0});
  std::fill(refused.begin(), refused.end(), std::uint8_t{0});
  for (std::vector<double>& values : sent) std::fill(values.begin(), values.end(), kNothing);
  log.clear();
}

bool supervise(const SupervisorPlan& plan, SupervisorState& state, const SupervisorInputs& inputs,
               std::chrono::nanoseconds clock) noexcept {
  advance_time(state.policies[state.active], inputs.sensors, clock);
  judge_emergency(plan, state, inputs);
  const bool begins = follow_request(plan, state, inputs);
  const bool stopped = state.policies[state.active].state == ControllerState::kStopped;
  if (!begins && !stopped) return follow_rules(plan, state, inputs);
  std::fill(state.refused.begin(), state.refused.end(), std::uint8_t{0});
  return begins;
}

void note_result(const SupervisorPlan& plan, SupervisorState& state,
                 std::span<const void* const> outputs) noexcept {
  for (std::size_t r = 0; r < plan.rules.size(); ++r) {
    const RulePlan& rule = plan.rules[r];
    if (rule.when.source != Source::kPort || *rule.from != state.active) continue;
    bool met = false;
    for (std::size_t i = 0; i < rule.when.count; ++i) {
      const double value =
          load_value(outputs[rule.when.index], rule.when.dtype, rule.when.first + i);
      met = met || (rule.when.dtype == DType::kBool ? value != 0 : is_met(rule, value));
    }
    state.met[r] = met ? 1 : 0;
  }
}

}  // namespace leapp
