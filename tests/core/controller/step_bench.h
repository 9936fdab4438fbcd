// Runs the pure tick without an engine, a clock or threads.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/step.h"
#include "support.h"

namespace leapp::testing {

/// One joint, measured by sensor 0 and driven by actuator 0, in float32. The policy runs at half
/// the rate of the loop, which is 100 Hz. Change the members, then call build().
class StepBench {
 public:
  StepBench() {
    bench.robot.joints = {"hip"};
    bench.robot.sensors = {{.name = "q", .kind = "state/joint/position", .elements = {"hip"}}};
    bench.robot.actuators = {{.name = "m", .kind = "target/joint/position", .elements = {"hip"}}};
    bench.inputs = {named_port("q", "state/joint/position", {"hip"})};
    bench.outputs = {named_port("action", "target/joint/position", {"hip"})};
  }

  void build() {
    const Bundle bundle = bench.bundle();
    const RobotBinding binding = bind(bundle, bench.robot);
    require_bound(binding, bundle, bench.robot);
    plan = make_tick_plan(bundle, bench.robot, binding, bench.options);
    state.emplace(plan);
    sensors = make_sensors(plan);
    actuators = make_actuators(plan);
    for (std::vector<double>& actuator : actuators) {
      std::fill(actuator.begin(), actuator.end(), kUntouched);
    }
    policy_inputs.clear();
    input_memory.clear();
    for (const InputPlan& input : plan.inputs) {
      policy_inputs.emplace_back(input.layout.elements * input.layout.steps);
    }
    for (std::vector<float>& input : policy_inputs) input_memory.push_back(input.data());
    results.clear();
    result_memory.clear();
    for (const Port& port : bench.outputs) {
      results.emplace_back(static_cast<std::size_t>(element_count(port.shape)));
    }
    for (std::vector<float>& result : results) result_memory.push_back(result.data());
  }

  /// Sets sensor 0 to a value measured `age` ago.
  void measure(std::vector<double> values, std::chrono::nanoseconds age = {}) {
    sensors[0].values = std::move(values);
    sensors[0].fresh = true;
    sensors[0].age = age;
  }
  void measure(double value, std::chrono::nanoseconds age = {}) {
    measure(std::vector{value}, age);
  }

  /// Runs the first half of a tick, 10 ms after the last one. Returns whether the policy must run.
  bool gather(bool busy = false) {
    const bool asked = leapp::gather(plan, *state, sensors, clock, busy, input_memory);
    for (SensorValues& sensor : sensors) sensor.fresh = false;
    clock += std::chrono::milliseconds(10);
    return asked;
  }
  /// Runs the second half, with a result of that kind; the numbers are in `results`.
  StepOutcome finish(PolicyResult::Kind kind) {
    return leapp::step(plan, *state, sensors, {kind, late, result_memory}, actuators);
  }
  /// Runs a whole tick: the policy answers `action`, in synchronous execution only if it was
  /// requested.
  ControllerState tick(double action) {
    for (float& value : results[0]) value = static_cast<float>(action);
    const bool asked = gather();
    const bool answers = plan.worker || asked;
    return finish(answers ? PolicyResult::Kind::kGood : PolicyResult::Kind::kNone).state;
  }
  /// Runs a whole tick in which the policy does not answer.
  ControllerState tick_without_result() {
    gather();
    return finish(PolicyResult::Kind::kNone).state;
  }
  /// Runs a whole tick in which the worker is busy.
  ControllerState tick_while_busy() {
    gather(true);
    return finish(PolicyResult::Kind::kBusy).state;
  }

  double sent() const { return actuators[0][0]; }
  std::uint64_t count(Cause cause) const {
    return state->log.counts()[static_cast<std::size_t>(cause)];
  }
  PortContract contract_of_action() const { return contract_of(bench.outputs[0]); }

  static constexpr double kUntouched = 99;  ///< what the caller wrote to the actuators

  PolicyBench bench;
  TickPlan plan;
  std::optional<TickState> state;
  std::vector<SensorValues> sensors;
  std::vector<std::vector<double>> actuators;
  std::vector<std::vector<float>> policy_inputs;
  std::vector<std::vector<float>> results;  ///< by output of the bundle
  std::chrono::nanoseconds clock{0};
  bool late = false;

 private:
  std::vector<void*> input_memory;
  std::vector<const void*> result_memory;
};

}  // namespace leapp::testing
