#include "leapp/robot_binding.h"

#include <algorithm>
#include <set>

#include "base/utf8.h"
#include "bundle/noise_port.h"
#include "controller/port_layout.h"
#include "controller/unit.h"
#include "leapp/error.h"

namespace leapp {
namespace {

constexpr const char* kNotUnderstood =
    "is not in the form of the contract, so it would not be kept; correct it or remove it";

/// Returns the names of a signal's elements; those of a quaternion are qw, qx, qy, qz.
std::vector<std::string> names_of_elements(const Signal& signal) {
  std::vector<std::string> names = signal.elements;
  name_quaternion(names, signal.quaternion);
  return names;
}

/// Binds the ports of one side of a bundle to the signals of one side of a robot.
class SideBinder {
 public:
  SideBinder(const std::vector<Signal>& signals, bool inputs, RobotBinding& result)
      : signals_(signals), inputs_(inputs), result_(result) {
    for (const Signal& signal : signals) names_.push_back(names_of_elements(signal));
  }

  PortBinding bind(const std::string& name, const Port& port) {
    PortBinding bound;
    bound.port = name;
    bound.kind = port.semantics.kind.value_or("");
    bound.contract = contract_of(port);
    NamedLayout found = find_layout(port, bound.contract);
    bound.layout = found.layout;
    bound.elements = std::move(found.names);
    const std::vector<std::size_t> candidates = candidates_of(bound);
    // Gains and default poses are optional outputs; targets must reach an actuator.
    if (!inputs_ && !bound.kind.starts_with("target/") && candidates.empty()) {
      bound.remarks.push_back(
          (bound.kind.empty() ? std::string("has no kind") : missing_signal(bound)) +
          ": the policy computes it, but no actuator receives it");
      return bound;
    }
    for (const std::string& key : bound.contract.not_understood) {
      fail(bound, "its '" + key + "' " + kNotUnderstood);
    }
    if (!found.fault.empty()) {
      fail(bound, found.fault);
    } else if (bound.kind.empty() && candidates.empty()) {
      fail(bound,
           "it has no kind, so no sensor can be matched to it. Set its kind, or list the port in "
           "'ports' of a sensor");
    } else if (candidates.empty()) {
      fail(bound, missing_signal(bound));
    } else {
      match(bound, candidates);
    }
    return bound;
  }

 private:
  const char* side() const { return inputs_ ? "sensor" : "actuator"; }

  void fail(const PortBinding& bound, const std::string& what) {
    const std::string kind = bound.kind.empty() ? "" : " (" + bound.kind + ")";
    result_.problems.push_back(bound.port + kind + ": " + what);
  }

  std::string missing_signal(const PortBinding& bound) const {
    std::string frames;
    for (const Signal& signal : signals_) {
      if (signal.kind == bound.kind) frames += (frames.empty() ? "" : ", ") + *signal.frame;
    }
    std::string text = std::string("the robot has no ") + side() + " of its kind";
    if (!frames.empty()) {
      text += " in the frame " + quote_for_message(*bound.contract.frame) + ", only in " + frames;
    }
    return text;
  }

  /// Returns the signals that may contain the port's elements: those that list it in 'ports', or
  /// else those of its kind.
  std::vector<std::size_t> candidates_of(const PortBinding& bound) const {
    std::vector<std::size_t> of_kind;
    std::vector<std::size_t> named;
    for (std::size_t i = 0; i < signals_.size(); ++i) {
      const Signal& signal = signals_[i];
      const bool names_it =
          std::find(signal.ports.begin(), signal.ports.end(), bound.port) != signal.ports.end();
      if (signal.kind != bound.kind && !(names_it && bound.kind.empty())) continue;
      if (names_it) named.push_back(i);
      if (!signal.frame || !bound.contract.frame || *signal.frame == *bound.contract.frame) {
        of_kind.push_back(i);
      }
    }
    return named.empty() ? of_kind : named;
  }

  void match(PortBinding& bound, const std::vector<std::size_t>& candidates) {
    if (bound.elements.empty()) return match_in_order(bound, candidates);
    std::vector<BoundElement> sources;
    std::string missing;
    for (const std::string& name : bound.elements) {
      std::vector<BoundElement> found;
      for (const std::size_t i : candidates) {
        const auto at = std::find(names_[i].begin(), names_[i].end(), name);
        if (at == names_[i].end()) continue;
        found.push_back({i, static_cast<std::size_t>(at - names_[i].begin()), 1});
      }
      if (found.empty()) missing += (missing.empty() ? "" : ", ") + quote_for_message(name);
      if (found.size() > 1) {
        return fail(bound, "its element " + quote_for_message(name) + " is in both " +
                               signals_[found[0].signal].name + " and " +
                               signals_[found[1].signal].name +
                               "; say which with 'ports' of that " + side());
      }
      if (found.size() == 1) sources.push_back(found[0]);
    }
    if (!missing.empty()) {
      return fail(bound, std::string("no ") + side() + " of its kind has the elements " + missing);
    }
    bound.sources = std::move(sources);
    convert(bound);
  }

  void match_in_order(PortBinding& bound, const std::vector<std::size_t>& candidates) {
    const Signal& signal = signals_[candidates.front()];
    const bool named =
        std::find(signal.ports.begin(), signal.ports.end(), bound.port) != signal.ports.end();
    if (!named || candidates.size() != 1) {
      return fail(bound, std::string("it has no element_names, so the order of its elements is "
                                     "unknown. Name them, or list the port in 'ports' of a ") +
                             side() + " with the same order");
    }
    if (signal.elements.size() != bound.layout.elements) {
      return fail(bound, "it has " + std::to_string(bound.layout.elements) + " elements, " +
                             signal.name + " has " + std::to_string(signal.elements.size()));
    }
    for (std::size_t i = 0; i < signal.elements.size(); ++i) {
      bound.sources.push_back({candidates.front(), i, 1});
    }
    bound.remarks.push_back("has no element_names and uses those of " + signal.name +
                            " in their order");
    convert(bound);
  }

  void convert(PortBinding& bound) {
    std::set<std::size_t> seen;
    for (BoundElement& source : bound.sources) {
      const Signal& signal = signals_[source.signal];
      const bool first = seen.insert(source.signal).second;
      if (signal.unit && bound.contract.unit) {
        const auto factor = unit_factor(*signal.unit, *bound.contract.unit);
        if (!factor) {
          bound.sources.clear();
          return fail(bound, "its unit " + quote_for_message(*bound.contract.unit) +
                                 " cannot be converted from " + quote_for_message(*signal.unit) +
                                 " of " + signal.name);
        }
        source.factor = *factor;
      } else if (first && (signal.unit || bound.contract.unit)) {
        bound.remarks.push_back("only " + (signal.unit ? signal.name : bound.port) +
                                " has a unit: nothing is converted");
      }
      if (first && signal.frame.has_value() != bound.contract.frame.has_value()) {
        bound.remarks.push_back("only " + (signal.frame ? signal.name : bound.port) +
                                " has a frame");
      }
    }
  }

  const std::vector<Signal>& signals_;
  const bool inputs_;
  RobotBinding& result_;
  std::vector<std::vector<std::string>> names_;
};

/// Reports two outputs that drive the same element of an actuator.
void find_doubled(const Robot& robot, RobotBinding& binding) {
  std::vector<std::vector<const PortBinding*>> drivers;
  for (const Signal& signal : robot.actuators) {
    drivers.emplace_back(signal.elements.size(), nullptr);
  }
  for (const PortBinding& output : binding.outputs) {
    for (const BoundElement& target : output.sources) {
      const PortBinding*& driver = drivers[target.signal][target.element];
      if (driver != nullptr) {
        const Signal& signal = robot.actuators[target.signal];
        binding.problems.push_back(
            output.port + " (" + output.kind + "): " + driver->port + " also drives " +
            quote_for_message(signal.elements[target.element]) + " of " + signal.name);
        break;
      }
      driver = &output;
    }
  }
  for (std::size_t i = 0; i < drivers.size(); ++i) {
    std::string idle;
    for (std::size_t e = 0; e < drivers[i].size(); ++e) {
      if (drivers[i][e]) continue;
      idle += (idle.empty() ? "" : ", ") + robot.actuators[i].elements[e];
    }
    if (idle.empty()) continue;
    binding.remarks.push_back("no output drives " + robot.actuators[i].name + ": " + idle);
  }
}

void find_lacking(const GraphContract& contract, const Robot& robot, RobotBinding& binding) {
  for (const std::string& name : contract.required_capabilities) {
    const auto& can = robot.capabilities;
    if (std::find(can.begin(), can.end(), name) != can.end()) continue;
    binding.problems.push_back("the bundle requires " + quote_for_message(name) +
                               ", which is not among the robot's capabilities");
  }
  for (const std::string& key : contract.not_understood) {
    if (key == "command_ranges" || key == "required_capabilities") {
      binding.problems.push_back("pipeline.configs." + key + " " + kNotUnderstood);
    } else {  // without a frequency, the caller has to give one; no controller uses the pose
      binding.remarks.push_back("pipeline.configs." + key +
                                " is not in the form of the contract and is ignored");
    }
  }
  if (!contract.frequency) {
    binding.remarks.emplace_back(
        "the bundle has no frequency; set the frequency of the policy in the controller");
  }
}

std::string list_of(const std::vector<Signal>& signals) {
  std::string text;
  for (const Signal& signal : signals) {
    text += "\n  " + signal.name + " (" + signal.kind + "): ";
    for (std::size_t i = 0; i < signal.elements.size(); ++i) {
      text += (i == 0 ? "" : ", ") + signal.elements[i];
    }
  }
  return text.empty() ? "\n  nothing" : text;
}

std::string list_of(const std::vector<PortBinding>& ports) {
  std::string text;
  for (const PortBinding& port : ports) {
    text += "\n  " + port.port + " (" + (port.kind.empty() ? "no kind" : port.kind) + "): ";
    for (std::size_t i = 0; i < port.elements.size(); ++i) {
      text += (i == 0 ? "" : ", ") + port.elements[i];
    }
    if (port.elements.empty()) text += "no element names";
  }
  return text.empty() ? "\n  nothing" : text;
}

}  // namespace

RobotBinding bind(const Bundle& bundle, const Robot& robot) {
  check(robot);
  RobotBinding binding;
  SideBinder sensors(robot.sensors, true, binding);
  for (const NodePorts& node : bundle.pipeline.inputs) {
    for (const std::string& port : node.ports) {
      const PortRef ref{node.node, port};
      const Port& input = *bundle.find_input(ref);
      if (!is_noise(input)) binding.inputs.push_back(sensors.bind(to_string(ref), input));
    }
  }
  SideBinder actuators(robot.actuators, false, binding);
  for (const NodePorts& node : bundle.pipeline.outputs) {
    for (const std::string& port : node.ports) {
      const PortRef ref{node.node, port};
      binding.outputs.push_back(actuators.bind(to_string(ref), *bundle.find_output(ref)));
    }
  }
  find_doubled(robot, binding);
  find_lacking(contract_of(bundle.pipeline), robot, binding);
  return binding;
}

void require_bound(const RobotBinding& binding, const Bundle& bundle, const Robot& robot) {
  if (binding.problems.empty()) return;
  std::string text = bundle.file.string() + ": the bundle does not match the robot:";
  for (const std::string& problem : binding.problems) text += "\n- " + problem;
  text += "\ninputs of the bundle:" + list_of(binding.inputs);
  text += "\nsensors of the robot:" + list_of(robot.sensors);
  text += "\noutputs of the bundle:" + list_of(binding.outputs);
  text += "\nactuators of the robot:" + list_of(robot.actuators);
  throw Error(Code::kNotBound, text);
}

}  // namespace leapp
