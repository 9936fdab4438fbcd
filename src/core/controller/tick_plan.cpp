#include "controller/tick_plan.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/utf8.h"
#include "controller/schedule.h"
#include "controller/unit.h"
#include "leapp/error.h"

namespace leapp {
namespace {

using std::chrono::nanoseconds;
using Role = OutputPlan::Role;

/// Rounds to the nearest nanosecond; saturates at 292 years.
nanoseconds to_nanoseconds(double ns) {
  constexpr double kMost = 9.2e18;
  return ns < kMost ? nanoseconds(std::llround(ns)) : nanoseconds::max();
}

double find_frequency(const Bundle& bundle, const ControllerOptions& options) {
  if (options.frequency) return *options.frequency;
  const auto declared = contract_of(bundle.pipeline).frequency;
  require(declared.has_value(), Code::kControllerOptions,
          bundle.file.string() +
              ": the bundle has no frequency. Set the frequency of the policy in the controller, "
              "or export with GraphConfigs(frequency=..)");
  return *declared;
}

/// Narrows the limits of a command to the ranges in the bundle.
void narrow_to_ranges(InputPlan& input, const PortBinding& port, const GraphContract& contract) {
  if (!port.kind.starts_with("command/")) return;
  for (const CommandRange& range : contract.command_ranges) {
    for (std::size_t i = 0; i < port.elements.size(); ++i) {
      if (port.elements[i] == range.element) narrow(input.bounds, i, range.lower, range.upper);
    }
  }
}

/// Refuses a list of numbers for time steps: if the last dimension is the time axis, the numbers of
/// a contract would apply to its steps.
void require_numbers_of_elements(const PortBinding& port) {
  if (port.layout.steps == 1 || port.layout.step_stride > port.layout.element_stride) return;
  const auto require_one = [&](const std::vector<double>& numbers, const char* key) {
    require(numbers.size() <= 1, Code::kNotBound,
            port.port + ": '" + key +
                "' has a number for each time step, which a controller cannot apply. Give one "
                "number for all elements, or export the time axis before the elements");
  };
  const Limits limits = port.contract.limits.value_or(Limits{});
  for (const auto& numbers : {limits.lower, limits.upper, limits.rate}) {
    require_one(numbers, "limits");
  }
  if (port.contract.history && port.contract.history->start) {
    require_one(*port.contract.history->start, "history");
  }
  const Fallback fallback = port.contract.fallback.value_or(Hold{});
  if (const auto* const numbers = std::get_if<std::vector<double>>(&fallback)) {
    require_one(*numbers, "fallback");
  }
}

InputPlan make_input(const Bundle& bundle, const PortBinding& port, double rate,
                     std::size_t decimation) {
  require_numbers_of_elements(port);
  InputPlan input;
  input.name = port.port;
  input.dtype = bundle.find_input(*parse_port_ref(port.port))->dtype;
  input.layout = port.layout;
  for (const BoundElement& element : port.sources) {
    input.sources.push_back({element.signal, element.element, element.factor});
    if (std::find(input.sensors.begin(), input.sensors.end(), element.signal) ==
        input.sensors.end()) {
      input.sensors.push_back(element.signal);
    }
  }
  if (port.contract.max_age_ms) input.max_age = to_nanoseconds(*port.contract.max_age_ms * 1e6);
  std::size_t every = decimation;
  if (port.layout.steps > 1) {
    const std::string what = "the time axis of " + port.port;
    const Sampling sampling =
        find_sampling(ticks_in(port.layout.period_ms / 1000, rate, what), decimation, what);
    input.every = every = sampling.every;
    input.stride = sampling.stride;
    input.history = port.contract.history.value_or(History{});
  }
  input.bounds =
      make_bounds(port.contract.limits, port.layout.elements, static_cast<double>(every) / rate);
  narrow_to_ranges(input, port, contract_of(bundle.pipeline));
  return input;
}

Role role_of(const std::string& kind) {
  if (kind == "target/joint/position") return Role::kPosition;
  const bool zero = kind == "kp" || kind == "target/joint/velocity" ||
                    kind == "target/joint/effort" || kind == "target/joint/torques";
  return zero ? Role::kZeroWhenDamped : Role::kOther;
}

/// Finds the sensor that measures the position of a joint, in a unit that can be converted.
std::optional<SensorElement> find_measured(const Robot& robot, const std::string& joint,
                                           const std::optional<std::string>& unit) {
  for (std::size_t s = 0; s < robot.sensors.size(); ++s) {
    const Signal& sensor = robot.sensors[s];
    const auto at = std::find(sensor.elements.begin(), sensor.elements.end(), joint);
    if (sensor.kind != "state/joint/position" || at == sensor.elements.end()) continue;
    const auto factor = sensor.unit && unit ? unit_factor(*sensor.unit, *unit) : 1.0;
    if (!factor) continue;
    return SensorElement{s, static_cast<std::size_t>(at - sensor.elements.begin()), *factor};
  }
  return std::nullopt;
}

/// Throws unless every position that the output drives is measured.
void require_measured(const OutputPlan& output, const char* purpose) {
  if (output.role != Role::kPosition) return;
  const bool measured =
      std::all_of(output.targets.begin(), output.targets.end(),
                  [](const TargetPlan& target) { return target.measured.has_value(); });
  require(
      measured, Code::kNotBound,
      output.name + ": " + purpose +
          ", each of its joints needs a sensor of kind state/joint/position, in a unit that can "
          "be converted");
}

OutputPlan make_output(const Bundle& bundle, const PortBinding& port, const Robot& robot,
                       const ControllerOptions& options) {
  require_numbers_of_elements(port);
  OutputPlan output;
  output.name = port.port;
  output.dtype = bundle.find_output(*parse_port_ref(port.port))->dtype;
  output.layout = port.layout;
  if (port.layout.steps > 1) {
    output.step_ticks =
        ticks_in(port.layout.period_ms / 1000, robot.rate, "a step of " + port.port);
  }
  output.role = role_of(port.kind);
  output.fallback = port.contract.fallback.value_or(Hold{});
  for (const BoundElement& element : port.sources) {
    TargetPlan target{element.signal, element.element, element.factor, {}};
    if (output.role == Role::kPosition) {
      const Signal& actuator = robot.actuators[element.signal];
      target.measured = find_measured(robot, actuator.elements[element.element],
                                      port.contract.unit ? port.contract.unit : actuator.unit);
    }
    output.targets.push_back(target);
  }
  if (std::holds_alternative<Damp>(output.fallback)) require_damp(output, port.kind);
  if (options.blend_in.count() > 0) require_measured(output, "to blend in");
  output.bounds = make_bounds(port.contract.limits, port.layout.elements, 1 / robot.rate);
  return output;
}

}  // namespace

void require_damp(const OutputPlan& output, const std::string& kind) {
  require(output.role != Role::kOther || kind == "kd", Code::kNotBound,
          output.name + ": its fallback is damp, which is not defined for " +
              quote_for_message(kind) + "; give numbers, or hold");
  require_measured(output, "to damp");
}

TickPlan make_tick_plan(const Bundle& bundle, const Robot& robot, const RobotBinding& binding,
                        const ControllerOptions& options) {
  TickPlan plan;
  plan.decimation =
      ticks_in(1 / find_frequency(bundle, options), robot.rate, "the period of the policy");
  plan.blend_ticks =
      ticks_that_cover(std::chrono::duration<double>(options.blend_in).count(), robot.rate);
  plan.linear = options.interpolation == Interpolation::kLinear;
  plan.worker = options.execution == Execution::kWorker;
  plan.period = to_nanoseconds(std::floor(1e9 * static_cast<double>(plan.decimation) / robot.rate));
  plan.deadline = options.deadline;
  for (const Signal& sensor : robot.sensors) plan.sensors.push_back(sensor.elements.size());
  for (const Signal& actuator : robot.actuators) plan.actuators.push_back(actuator.elements.size());
  for (const PortBinding& port : binding.inputs) {
    plan.inputs.push_back(make_input(bundle, port, robot.rate, plan.decimation));
  }
  for (std::size_t i = 0; i < binding.outputs.size(); ++i) {
    if (binding.outputs[i].sources.empty()) continue;
    plan.outputs.push_back(make_output(bundle, binding.outputs[i], robot, options));
    plan.outputs.back().port = i;
  }
  return plan;
}

}  // namespace leapp
