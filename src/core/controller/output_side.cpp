#include "controller/output_side.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "controller/element_io.h"

namespace leapp {
namespace {

using Role = OutputPlan::Role;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Returns the measured position of a target's joint, or NaN.
double measured_position(const TargetPlan& target, const TickState& state,
                         std::span<const SensorValues> sensors) noexcept {
  if (!target.measured || !state.sensors[target.measured->sensor].measured) return kUnknown;
  const SensorElement& at = *target.measured;
  const double position = sensors[at.sensor].values[at.element] * at.factor;
  return std::isfinite(position) ? position : kUnknown;
}

/// Sets the values from which the rate counts: those sent last, or else the measured pose.
void find_start(const OutputPlan& plan, OutputState& output, const TickState& state,
                std::span<const SensorValues> sensors) noexcept {
  for (std::size_t i = 0; i < output.start.size(); ++i) {
    output.start[i] =
        output.has_sent ? output.sent[i] : measured_position(plan.targets[i], state, sensors);
  }
}

bool can_send(const OutputPlan& plan, const OutputState& output) noexcept {
  double sum = 0;
  for (std::size_t i = 0; i < output.next.size(); ++i) {
    sum += output.next[i] / plan.targets[i].factor * 0.0;
  }
  return sum == 0.0;
}

void send(const OutputPlan& plan, OutputState& output, Actuators actuators) noexcept {
  for (std::size_t i = 0; i < output.next.size(); ++i) {
    const TargetPlan& target = plan.targets[i];
    actuators[target.actuator][target.element] = output.next[i] / target.factor;
  }
  std::copy(output.next.begin(), output.next.end(), output.sent.begin());
  output.has_sent = true;
  output.from_other = false;
}

/// Computes the value of the result for this tick, before blending and limits: R13.
void find_target(const TickPlan& plan, const OutputPlan& port, OutputState& output,
                 std::uint64_t since) noexcept {
  const std::size_t count = output.next.size();
  const double* from = output.before.data();
  const double* to = output.chunk.data();
  double part = 1;
  if (port.layout.steps == 1) {
    if (plan.linear) {
      part = std::min(1.0, static_cast<double>(since + 1) / static_cast<double>(plan.decimation));
    }
  } else {
    const std::size_t last = port.layout.steps - 1;
    const double place = std::min(static_cast<double>(since) / static_cast<double>(port.step_ticks),
                                  static_cast<double>(last));
    const auto step = static_cast<std::size_t>(place);
    from = output.chunk.data() + step * count;
    to = step < last ? from + count : from;
    part = plan.linear ? place - static_cast<double>(step) : 0;
  }
  for (std::size_t i = 0; i < count; ++i) {
    output.next[i] = part == 0 ? from[i] : part == 1 ? to[i] : from[i] + part * (to[i] - from[i]);
  }
}

/// Computes the fallback of an output. Returns false if there is nothing to send: R17.
bool find_fallback(const OutputPlan& plan, OutputState& output, const TickState& state,
                   std::span<const SensorValues> sensors) noexcept {
  const bool stopped = state.state == ControllerState::kStopped && plan.when_stopped.has_value();
  const Fallback& fallback = stopped ? *plan.when_stopped : plan.fallback;
  const auto* const numbers = std::get_if<std::vector<double>>(&fallback);
  const bool damps = std::holds_alternative<Damp>(fallback) && plan.role != Role::kOther;
  if (numbers == nullptr && !damps) {  // hold: exactly the value sent last
    std::copy(output.sent.begin(), output.sent.end(), output.next.begin());
    return output.has_sent;
  }
  for (std::size_t i = 0; i < output.next.size(); ++i) {
    if (numbers != nullptr) {
      output.next[i] = (*numbers)[numbers->size() == 1 ? 0 : i];
    } else if (plan.role == Role::kZeroWhenDamped) {
      output.next[i] = 0;
    } else {
      const double measured = measured_position(plan.targets[i], state, sensors);
      if (std::isnan(measured) && !output.has_sent) return false;
      output.next[i] = std::isnan(measured) ? output.sent[i] : measured;
    }
  }
  find_start(plan, output, state, sensors);
  limit(plan.bounds, output.start, output.next);
  return can_send(plan, output);
}

}  // namespace

bool load_result(const TickPlan& plan, TickState& state,
                 std::span<const void* const> memory) noexcept {
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    const OutputPlan& port = plan.outputs[i];
    const std::size_t count = port.layout.elements;
    const std::span<double> incoming = state.outputs[i].incoming;
    for (std::size_t step = 0; step < port.layout.steps; ++step) {
      load_step(memory[port.port], port.dtype, port.layout, step,
                incoming.subspan(step * count, count));
    }
    if (are_finite(incoming)) continue;
    state.log.add(state.tick, Cause::kNotFinite, port.name);
    return false;
  }
  return true;
}

void accept_result(TickState& state, std::uint64_t requested) noexcept {
  for (OutputState& output : state.outputs) {
    std::swap(output.incoming, output.chunk);
    // If nothing was sent before, the line to the target starts at the target itself.
    const std::vector<double>& before = output.has_sent ? output.sent : output.chunk;
    std::copy_n(before.begin(), output.before.size(), output.before.begin());
  }
  state.has_targets = true;
  state.played = requested;
}

void begin_blend(const TickPlan& plan, TickState& state,
                 std::span<const SensorValues> sensors) noexcept {
  state.blend_from = state.tick;
  for (std::size_t o = 0; o < state.outputs.size(); ++o) {
    OutputState& output = state.outputs[o];
    find_start(plan.outputs[o], output, state, sensors);
    for (std::size_t i = 0; i < output.blend.size(); ++i) {
      output.blend[i] = std::isnan(output.start[i]) ? output.chunk[i] : output.start[i];
    }
  }
}

PlayOutcome play(const TickPlan& plan, TickState& state,
                 std::span<const SensorValues> sensors) noexcept {
  PlayOutcome worst = PlayOutcome::kGood;
  const std::uint64_t blended = state.tick - state.blend_from + 1;
  for (std::size_t o = 0; o < state.outputs.size(); ++o) {
    const OutputPlan& port = plan.outputs[o];
    OutputState& output = state.outputs[o];
    find_target(plan, port, output, state.tick - state.played);
    if (blended <= plan.blend_ticks && port.role == Role::kPosition) {
      const double part = static_cast<double>(blended) / static_cast<double>(plan.blend_ticks);
      for (std::size_t i = 0; i < output.next.size(); ++i) {
        output.next[i] = output.blend[i] + part * (output.next[i] - output.blend[i]);
      }
    }
    find_start(port, output, state, sensors);
    const LimitOutcome outcome = limit(port.bounds, output.start, output.next);
    if (outcome.clamped) state.log.add(state.tick, Cause::kClamped, port.name);
    if (outcome.slewed) state.log.add(state.tick, Cause::kSlewed, port.name);
    if (outcome.stop) {
      state.log.add(state.tick, Cause::kBeyondLimits, port.name);
      worst = PlayOutcome::kStop;
    }
    if (!can_send(port, output)) [[unlikely]] {
      state.log.add(state.tick, Cause::kNotFinite, port.name);
      worst = std::max(worst, PlayOutcome::kNotFinite);
    }
  }
  return worst;
}

void send_all(const TickPlan& plan, TickState& state, Actuators actuators) noexcept {
  for (std::size_t o = 0; o < state.outputs.size(); ++o) {
    send(plan.outputs[o], state.outputs[o], actuators);
  }
}

void send_measured(const TickPlan& plan, TickState& state, std::span<const SensorValues> sensors,
                   Actuators actuators) noexcept {
  for (std::size_t o = 0; o < state.outputs.size(); ++o) {
    const OutputPlan& port = plan.outputs[o];
    OutputState& output = state.outputs[o];
    if (state.handed_over && output.has_sent) {
      std::copy(output.sent.begin(), output.sent.end(), output.next.begin());
      send(port, output, actuators);
      continue;
    }
    if (port.role != Role::kPosition) continue;
    for (std::size_t i = 0; i < output.next.size(); ++i) {
      output.next[i] = measured_position(port.targets[i], state, sensors);
    }
    if (can_send(port, output))
      send(port, output, actuators);  // false if a joint position is unknown
  }
}

void send_fallbacks(const TickPlan& plan, TickState& state, std::span<const SensorValues> sensors,
                    Actuators actuators) noexcept {
  for (std::size_t o = 0; o < state.outputs.size(); ++o) {
    if (find_fallback(plan.outputs[o], state.outputs[o], state, sensors)) {
      send(plan.outputs[o], state.outputs[o], actuators);
    }
  }
}

}  // namespace leapp
