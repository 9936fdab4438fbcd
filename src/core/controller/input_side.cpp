#include "controller/input_side.h"

#include <algorithm>

#include "controller/element_io.h"
#include "controller/saturating.h"

namespace leapp {
namespace {

using std::chrono::nanoseconds;

/// Computes a reading of an input into its `values`.
FillOutcome read(const InputPlan& plan, InputState& input, std::span<const SensorValues> sensors,
                 std::uint64_t tick, InterventionLog& log) noexcept {
  for (std::size_t i = 0; i < plan.sources.size(); ++i) {
    const SensorElement& source = plan.sources[i];
    input.values[i] = sensors[source.sensor].values[source.element] * source.factor;
  }
  if (!are_finite(input.values)) [[unlikely]] {
    log.add(tick, Cause::kNotFinite, plan.name);
    return FillOutcome::kBad;
  }
  const LimitOutcome outcome = limit(plan.bounds, input.previous, input.values);
  if (outcome.stop) [[unlikely]] {
    log.add(tick, Cause::kBeyondLimits, plan.name);
    return FillOutcome::kStop;
  }
  if (!are_finite_as(plan.dtype, input.values)) [[unlikely]] {
    log.add(tick, Cause::kNotFinite, plan.name);
    return FillOutcome::kBad;
  }
  if (outcome.clamped) log.add(tick, Cause::kClamped, plan.name);
  if (outcome.slewed) log.add(tick, Cause::kSlewed, plan.name);
  std::copy(input.values.begin(), input.values.end(), input.previous.begin());
  return FillOutcome::kGood;
}

bool is_measured(const InputPlan& input, const TickState& state) noexcept {
  return std::all_of(input.sensors.begin(), input.sensors.end(),
                     [&](std::size_t sensor) { return state.sensors[sensor].measured; });
}

nanoseconds oldest_of(const InputPlan& input, const TickState& state) noexcept {
  nanoseconds oldest{0};
  for (const std::size_t sensor : input.sensors) {
    oldest = std::max(oldest, state.sensors[sensor].age);
  }
  return oldest;
}

/// Adds the newest reading to a time axis. An unusable reading is replaced by the previous sample.
void add_sample(const InputPlan& plan, InputState& input, nanoseconds age) noexcept {
  if (input.good) input.age = age;
  if (plan.max_age && input.age > *plan.max_age) {
    input.history.clear();
  } else if (input.good) {
    input.history.push(input.values);
  } else if (!input.history.empty()) {
    input.history.repeat();
  }
}

}  // namespace

void advance_time(TickState& state, std::span<const SensorValues> sensors,
                  nanoseconds clock) noexcept {
  const bool first = state.tick == 0;
  const nanoseconds step = first ? nanoseconds(0) : steps_forward(state.clock, clock);
  state.clock = clock;
  state.waited = saturating_add(state.waited, step);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    SensorState& sensor = state.sensors[i];
    sensor.age = sensors[i].fresh ? sensors[i].age : saturating_add(sensor.age, step);
    sensor.measured = sensor.measured || sensors[i].fresh;
  }
  for (InputState& input : state.inputs) input.age = saturating_add(input.age, step);
}

void sample_histories(const TickPlan& plan, TickState& state,
                      std::span<const SensorValues> sensors) noexcept {
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    const InputPlan& input = plan.inputs[i];
    if (input.every == 0 || (state.tick - state.began) % input.every != 0) continue;
    if (!is_measured(input, state)) continue;  // stale, so the policy does not run
    const FillOutcome outcome = read(input, state.inputs[i], sensors, state.tick, state.log);
    state.inputs[i].good = outcome == FillOutcome::kGood;
    if (outcome == FillOutcome::kStop) state.state = ControllerState::kStopped;
    add_sample(input, state.inputs[i], oldest_of(input, state));
  }
}

bool is_stale(const InputPlan& input, const TickState& state) noexcept {
  if (!is_measured(input, state)) return true;
  return input.max_age && oldest_of(input, state) > *input.max_age;
}

bool are_stale(const TickPlan& plan, TickState& state) noexcept {
  bool stale = false;
  for (const InputPlan& input : plan.inputs) {
    if (!is_stale(input, state)) continue;
    state.log.add(state.tick, Cause::kStale, input.name);
    stale = true;
  }
  return stale;
}

FillOutcome fill_inputs(const TickPlan& plan, TickState& state,
                        std::span<const SensorValues> sensors,
                        std::span<void* const> memory) noexcept {
  FillOutcome worst = FillOutcome::kGood;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    const InputPlan& input = plan.inputs[i];
    InputState& values = state.inputs[i];
    FillOutcome outcome = FillOutcome::kGood;
    if (input.every == 0) {
      outcome = read(input, values, sensors, state.tick, state.log);
      if (outcome == FillOutcome::kGood) {
        store_step(memory[i], input.dtype, input.layout, 0, values.values);
      }
    } else if (!values.good || values.history.empty()) {
      outcome = FillOutcome::kBad;
    } else {
      for (std::size_t step = 0; step < input.layout.steps; ++step) {
        store_step(memory[i], input.dtype, input.layout, step, values.history.step(step));
      }
    }
    worst = std::max(worst, outcome);
  }
  return worst;
}

}  // namespace leapp
