#include "controller/tick_state.h"

#include <algorithm>
#include <limits>

namespace leapp {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TickState::TickState(const TickPlan& plan)
    : sensors(plan.sensors.size()), inputs(plan.inputs.size()), outputs(plan.outputs.size()) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const InputPlan& input = plan.inputs[i];
    inputs[i].values.resize(input.layout.elements);
    inputs[i].previous.resize(input.layout.elements);
    if (input.every == 0) continue;
    inputs[i].history =
        HistoryRing(input.history, input.layout.steps, input.layout.elements, input.stride);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const PortLayout& layout = plan.outputs[i].layout;
    OutputState& output = outputs[i];
    output.incoming.resize(layout.elements * layout.steps);
    output.chunk.resize(layout.elements * layout.steps);
    for (auto* const values :
         {&output.before, &output.blend, &output.next, &output.start, &output.sent}) {
      values->resize(layout.elements);
    }
  }
  restart();
}

void TickState::restart() {
  tick = 0;
  clock = std::chrono::nanoseconds(0);
  std::fill(sensors.begin(), sensors.end(), SensorState{});
  for (OutputState& output : outputs) output.has_sent = output.from_other = false;
  log.clear();
  handed_over = false;
  begin_policy();
}

void TickState::begin_policy() noexcept {
  began = tick;
  state = ControllerState::kWaiting;
  bad = asked = unusable = has_targets = late = false;
  requested = played = blend_from = 0;
  waited = std::chrono::nanoseconds(0);
  for (InputState& input : inputs) {
    std::fill(input.previous.begin(), input.previous.end(), kNone);
    input.history.clear();
    input.age = std::chrono::nanoseconds(0);
    input.good = false;
  }
}

std::vector<SensorValues> make_sensors(const TickPlan& plan) {
  std::vector<SensorValues> sensors(plan.sensors.size());
  for (std::size_t i = 0; i < sensors.size(); ++i) sensors[i].values.resize(plan.sensors[i]);
  return sensors;
}

std::vector<std::vector<double>> make_actuators(const TickPlan& plan) {
  std::vector<std::vector<double>> actuators;
  for (const std::size_t elements : plan.actuators) actuators.emplace_back(elements);
  return actuators;
}

}  // namespace leapp
