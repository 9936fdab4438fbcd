#include "controller/supervisor_plan.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"
#include "base/join.h"
#include "base/utf8.h"
#include "leapp/error.h"

namespace leapp {
namespace {

using Source = SwitchCondition::Source;
using Elements = std::set<std::pair<std::size_t, std::size_t>>;

Elements driven_by(const TickPlan& plan) {
  Elements elements;
  for (const OutputPlan& output : plan.outputs) {
    for (const TargetPlan& target : output.targets) {
      elements.emplace(target.actuator, target.element);
    }
  }
  return elements;
}

/// Refuses policies that do not drive the same elements of the actuators.
void require_same_elements(const SupervisorPlan& plan, const Supervision& supervision,
                           const Robot& robot) {
  const Elements first = driven_by(plan.policies[0]);
  for (std::size_t p = 1; p < plan.policies.size(); ++p) {
    const Elements here = driven_by(plan.policies[p]);
    std::vector<std::pair<std::size_t, std::size_t>> differ;
    std::set_symmetric_difference(first.begin(), first.end(), here.begin(), here.end(),
                                  std::back_inserter(differ));
    if (differ.empty()) continue;
    const auto [actuator, element] = differ.front();
    const Signal& signal = robot.actuators[actuator];
    const bool missing = first.count(differ.front()) > 0;
    throw Error(Code::kNotBound,
                "policy " + quote_for_message(supervision.policies[missing ? p : 0].name) +
                    " does not drive " + quote_for_message(signal.elements[element]) +
                    " of actuator " + quote_for_message(signal.name) + ", and policy " +
                    quote_for_message(supervision.policies[missing ? 0 : p].name) +
                    " does. After a switch, the actuator would keep a value that no policy "
                    "controls. Export an output for it in both");
  }
}

std::size_t find_policy(const Supervision& supervision, const std::string& name) {
  const auto found =
      std::find_if(supervision.policies.begin(), supervision.policies.end(),
                   [&](const SupervisedPolicy& policy) { return policy.name == name; });
  return static_cast<std::size_t>(found - supervision.policies.begin());
}

/// Restricts a condition to the element that it names.
void choose_element(ConditionPlan& plan, const SwitchCondition& when,
                    const std::vector<std::string>& elements, const std::string& what) {
  if (when.element.empty()) return;
  const auto found = std::find(elements.begin(), elements.end(), when.element);
  require(found != elements.end() && elements.size() == plan.count, Code::kSupervision,
          what + ": " + quote_for_message(when.name) + " has no element " +
              quote_for_message(when.element) +
              (elements.empty() ? "; its elements have no names" : "; it has: " + join(elements)));
  plan.first = static_cast<std::size_t>(found - elements.begin());
  plan.count = 1;
}

void find_sensor(ConditionPlan& plan, const SwitchCondition& when, const Robot& robot,
                 const std::string& what) {
  std::vector<std::string> names;
  for (const Signal& sensor : robot.sensors) names.push_back(sensor.name);
  const auto found = std::find(names.begin(), names.end(), when.name);
  require(found != names.end(), Code::kSupervision,
          what + ": the robot has no sensor " + quote_for_message(when.name) +
              "; it has: " + join(names));
  plan.index = static_cast<std::size_t>(found - names.begin());
  plan.count = robot.sensors[plan.index].elements.size();
  choose_element(plan, when, robot.sensors[plan.index].elements, what);
}

void find_port(ConditionPlan& plan, const SwitchCondition& when, const PolicyOnRobot& policy,
               const std::string& what) {
  std::vector<std::string> names;
  for (const PortBinding& port : policy.binding.outputs) names.push_back(port.port);
  const auto found = std::find(names.begin(), names.end(), when.name);
  require(found != names.end(), Code::kSupervision,
          what + ": the policy has no output " + quote_for_message(when.name) +
              "; it has: " + join(names));
  plan.index = static_cast<std::size_t>(found - names.begin());
  const Port& port = *policy.bundle.find_output(*parse_port_ref(when.name));
  plan.dtype = port.dtype;
  plan.count = static_cast<std::size_t>(element_count(port.shape));
  const bool compares = when.above || when.below;
  const bool number = port.dtype == DType::kFloat32 || port.dtype == DType::kFloat64 ||
                      port.dtype == DType::kInt32 || port.dtype == DType::kInt64;
  require(port.dtype == DType::kBool ? !compares : number && compares, Code::kSupervision,
          what + ": " + quote_for_message(when.name) + " is of type " +
              std::string(name_of(port.dtype)) +
              "; a condition accepts a bool, or compares float32, float64, int32 and int64 with "
              "'above' or 'below'");
  choose_element(plan, when, policy.binding.outputs[plan.index].elements, what);
}

RulePlan make_rule(const Supervision& supervision, std::size_t index, const Robot& robot,
                   std::span<const PolicyOnRobot> policies, std::vector<std::string>& flags) {
  const SwitchRule& rule = supervision.switches[index];
  const SwitchCondition& when = rule.when;
  const std::string what = "switch " + std::to_string(index + 1);
  RulePlan plan;
  if (!rule.from.empty()) plan.from = find_policy(supervision, rule.from);
  if (rule.to != kEmergencyStopName) plan.to = find_policy(supervision, rule.to);
  plan.when.source = when.source;
  plan.when.above = when.above.value_or(plan.when.above);
  plan.when.below = when.below.value_or(plan.when.below);
  switch (when.source) {
    case Source::kFlag: {
      const auto found = std::find(flags.begin(), flags.end(), when.name);
      plan.when.index = static_cast<std::size_t>(found - flags.begin());
      if (found == flags.end()) flags.push_back(when.name);
      break;
    }
    case Source::kSensor:
      find_sensor(plan.when, when, robot, what);
      break;
    case Source::kPort:
      find_port(plan.when, when, policies[*plan.from], what);
      break;
  }
  return plan;
}

/// Returns the fallback of an actuator for some of its elements, in the unit of the port.
Fallback convert(const Fallback& fallback, const OutputPlan& output) {
  const auto* const numbers = std::get_if<std::vector<double>>(&fallback);
  if (numbers == nullptr) return fallback;
  std::vector<double> converted;
  for (const TargetPlan& target : output.targets) {
    converted.push_back((*numbers)[numbers->size() == 1 ? 0 : target.element] * target.factor);
  }
  return converted;
}

/// Gives each output the common fallback of the actuator that it drives.
void add_fallback(SupervisorPlan& plan, const Robot& robot, std::span<const PolicyOnRobot> policies,
                  const std::string& actuator, const Fallback& fallback) {
  const std::string what = "fallback of " + quote_for_message(actuator);
  const auto found = std::find_if(robot.actuators.begin(), robot.actuators.end(),
                                  [&](const Signal& signal) { return signal.name == actuator; });
  require(found != robot.actuators.end(), Code::kSupervision,
          what + ": the robot has no such actuator");
  const auto index = static_cast<std::size_t>(found - robot.actuators.begin());
  if (const auto* const numbers = std::get_if<std::vector<double>>(&fallback)) {
    require(numbers->size() == 1 || numbers->size() == found->elements.size(), Code::kSupervision,
            what + " has " + std::to_string(numbers->size()) +
                " numbers; give one, or one for "
                "each of the " +
                std::to_string(found->elements.size()) + " elements");
  }
  bool driven = false;
  for (std::size_t p = 0; p < plan.policies.size(); ++p) {
    for (OutputPlan& output : plan.policies[p].outputs) {
      const auto drives = [&](const TargetPlan& target) { return target.actuator == index; };
      if (std::none_of(output.targets.begin(), output.targets.end(), drives)) continue;
      driven = true;
      require(std::all_of(output.targets.begin(), output.targets.end(), drives), Code::kSupervision,
              what + ": " + output.name +
                  " also drives another actuator, but an output has only one fallback");
      if (std::holds_alternative<Damp>(fallback)) {
        require_damp(output, policies[p].binding.outputs[output.port].kind);
      }
      output.when_stopped = convert(fallback, output);
    }
  }
  require(driven, Code::kSupervision, what + ": no policy drives it");
}

}  // namespace

ControllerOptions options_of(const SupervisedPolicy& policy, const Supervision& supervision,
                             const ControllerOptions& options) {
  ControllerOptions own = options;
  if (policy.frequency) own.frequency = policy.frequency;
  if (policy.linear)
    own.interpolation = *policy.linear ? Interpolation::kLinear : Interpolation::kHold;
  const double seconds = policy.blend_in.value_or(supervision.blend_in);
  own.blend_in = std::chrono::nanoseconds(std::llround(seconds * 1e9));
  return own;
}

void check(const Supervision& supervision, const Robot& robot, std::span<const Bundle> bundles) {
  check(supervision);
  check(robot);
  require(bundles.size() == supervision.policies.size(), Code::kSupervision,
          "expected a bundle for each of the " + std::to_string(supervision.policies.size()) +
              " policies, found " + std::to_string(bundles.size()));
  std::vector<RobotBinding> bindings;
  for (const Bundle& bundle : bundles) {
    bindings.push_back(bind(bundle, robot));
    require_bound(bindings.back(), bundle, robot);
  }
  std::vector<PolicyOnRobot> on_robot;
  for (std::size_t p = 0; p < bundles.size(); ++p) on_robot.push_back({bundles[p], bindings[p]});
  make_supervisor_plan(supervision, robot, on_robot, {});
}

SupervisorPlan make_supervisor_plan(const Supervision& supervision, const Robot& robot,
                                    std::span<const PolicyOnRobot> policies,
                                    const ControllerOptions& options) {
  SupervisorPlan plan;
  for (std::size_t p = 0; p < policies.size(); ++p) {
    plan.policies.push_back(
        make_tick_plan(policies[p].bundle, robot, policies[p].binding,
                       options_of(supervision.policies[p], supervision, options)));
  }
  require_same_elements(plan, supervision, robot);
  for (std::size_t i = 0; i < supervision.switches.size(); ++i) {
    plan.rules.push_back(make_rule(supervision, i, robot, policies, plan.flags));
  }
  for (const auto& [actuator, fallback] : supervision.fallback) {
    add_fallback(plan, robot, policies, actuator, fallback);
  }
  return plan;
}

}  // namespace leapp
