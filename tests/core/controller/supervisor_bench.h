// Several policies on one joint, stepped by the test.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "leapp/supervisor.h"
#include "support.h"

namespace leapp::testing {

/// Policies "stand" and "walk" on one joint "hip", which the sensor "q" measures and the actuator
/// "m" drives. Each policy runs at half the rate of the loop, and its output is the result of its
/// function. No policy reads the sensor "tilt". Change the members, then call make().
class SupervisorBench {
 public:
  SupervisorBench() {
    robot.rate = 100;
    robot.joints = {"hip"};
    robot.sensors = {{.name = "q", .kind = "state/joint/position", .elements = {"hip"}},
                     {.name = "tilt", .kind = "state/tilt", .elements = {"x", "y"}}};
    robot.actuators = {{.name = "m", .kind = "target/joint/position", .elements = {"hip"}}};
    add("stand", 2);
    add("walk", 5);
  }

  /// Adds a policy that outputs that target.
  PolicyBench& add(const std::string& name, float target) {
    PolicyBench& bench = policies.emplace_back();
    bench.inputs = {named_port("q", "state/joint/position", {"hip"}, {.max_age_ms = 50})};
    bench.outputs = {named_port("action", "target/joint/position", {"hip"})};
    bench.policy = [target](auto, auto out) {
      out[0][0] = target;
      return true;
    };
    supervision.policies.push_back({.name = name, .bundle = {}});
    return bench;
  }

  void add_switch(const std::string& from, const std::string& to, const SwitchCondition& when) {
    supervision.switches.push_back({from, to, when});
  }

  Supervision write() {
    for (std::size_t p = 0; p < policies.size(); ++p) {
      supervision.policies[p].bundle = policies[p].write();
    }
    return supervision;
  }

  /// Returns the options with an engine that is chosen by the directory of its file.
  ControllerOptions controller_options() {
    ControllerOptions all = options;
    all.runtime.engines.add("onnx",
                            [this](const Model&, const ModelFile& file, const EngineOptions&) {
                              for (PolicyBench& bench : policies) {
                                if (file.path.string().starts_with(bench.folder().string() + "/")) {
                                  return std::make_unique<FunctionEngine>(bench.policy);
                                }
                              }
                              return std::unique_ptr<FunctionEngine>();
                            });
    all.clock = [this] { return now; };
    return all;
  }

  Supervisor make() { return Supervisor(write(), robot, controller_options()); }

  /// Runs a tick of 10 ms with that measurement of the joint.
  ControllerState tick(Supervisor& supervisor, double measured = 1) {
    supervisor.set_sensor(0, std::array{measured}).value();
    const ControllerState state = supervisor.update();
    now += std::chrono::milliseconds(10);
    return state;
  }

  Robot robot;
  std::deque<PolicyBench> policies;
  Supervision supervision;
  ControllerOptions options;
  std::chrono::nanoseconds now{0};
};

inline SwitchCondition flag(const std::string& name) {
  return {SwitchCondition::Source::kFlag, name};
}
inline SwitchCondition above(const std::string& sensor, double number,
                             const std::string& element = {}) {
  return {SwitchCondition::Source::kSensor, sensor, element, number, {}};
}

}  // namespace leapp::testing
