#include "runtime/plan.h"

#include <unordered_set>

#include "base/check.h"
#include "base/port_suffix.h"
#include "bundle/noise_port.h"
#include "bundle/wiring.h"

namespace leapp {
namespace {

std::string path_of(const Model& model, const Port& port) {
  return model.name + "/" + port.name;
}

class Planner {
 public:
  Planner(const Bundle& bundle, const std::vector<std::vector<std::size_t>>& groups)
      : bundle_(bundle), wiring_(bundle), step_of_(bundle.models.size()) {
    for (std::size_t step = 0; step < groups.size(); ++step) {
      for (std::size_t node : groups[step]) step_of_[node] = step;
    }
    for (const Wiring::Connection& wire : wiring_.connections()) {
      if (wire.last_tick || step_of_[wire.source.node] != step_of_[wire.target.node]) {
        crossing_.insert(to_string(output_ref(bundle, wire.source)));
      }
    }
    for (const NodePorts& node : bundle.pipeline.outputs) {
      for (const std::string& port : node.ports) crossing_.insert(node.node + "/" + port);
    }
    for (std::size_t node = 0; node < bundle.models.size(); ++node) {
      const std::optional<Timing::Condition>& when = wiring_.timing(node).when;
      if (when && when->is_output) crossing_.insert(to_string(output_ref(bundle, when->port)));
    }
  }

  Plan plan(const std::vector<std::vector<std::size_t>>& groups) {
    list_external_ports();
    // Outputs first, because an input may read a value that a later step writes, one tick later.
    plan_.steps.resize(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) plan_outputs(plan_.steps[i], groups[i]);
    for (std::size_t i = 0; i < groups.size(); ++i) plan_inputs(plan_.steps[i], groups[i]);
    if (wiring_.has_schedule()) {
      for (std::size_t i = 0; i < groups.size(); ++i) plan_timing(i, groups[i][0]);
    }
    list_noise();
    return std::move(plan_);
  }

 private:
  void list_external_ports() {
    for (const NodePorts& node : bundle_.pipeline.inputs) {
      for (const std::string& port : node.ports) {
        if (is_noise(*bundle_.find_input({node.node, port}))) continue;
        plan_.external_inputs.push_back(node.node + "/" + port);
      }
    }
    for (const NodePorts& node : bundle_.pipeline.outputs) {
      for (const std::string& port : node.ports) {
        plan_.external_outputs.push_back(node.node + "/" + port);
      }
    }
    for (const Wiring::Connection& wire : wiring_.connections()) {
      if (!wire.last_tick) continue;
      plan_.feedback_inputs.push_back(to_string(input_ref(bundle_, wire.target)));
    }
  }

  void list_noise() {
    for (const PortIndex port : noise_ports(bundle_)) {
      const std::string name = to_string(input_ref(bundle_, port));
      plan_.noise.push_back(
          {.input = plan_.external_inputs.size(),
           .value = plan_.inputs.at(name).value,
           .step = step_of_[port.node],
           .distribution = distribution_of(bundle_.models[port.node].inputs[port.port])});
      plan_.external_inputs.push_back(name);
    }
  }

  std::size_t add_value(const std::string& name, const Port& port) {
    plan_.values.push_back({name, port.dtype, port.shape, false});
    return plan_.values.size() - 1;
  }

  void plan_outputs(PlannedStep& step, const std::vector<std::size_t>& models) {
    step.models = models;
    const bool merged = models.size() > 1;
    if (!merged) step.model = bundle_.models[models[0]];
    for (std::size_t index : models) {
      const Model& model = bundle_.models[index];
      if (merged) {
        step.model.name += (step.model.name.empty() ? "" : "+") + model.name;
        step.model.backend = model.backend;
      }
      for (const Port& port : model.outputs) {
        const std::string name = path_of(model, port);
        if (merged && !crossing_.contains(name)) continue;  // stays inside the merged graph
        const Access access{add_value(name, port), false};
        step.outputs.push_back(access);
        plan_.outputs[name] = access;
        if (merged)
          step.model.outputs.push_back({.name = name, .dtype = port.dtype, .shape = port.shape});
      }
    }
  }

  void plan_inputs(PlannedStep& step, const std::vector<std::size_t>& models) {
    const bool merged = models.size() > 1;
    for (std::size_t index : models) {
      const Model& model = bundle_.models[index];
      for (std::size_t i = 0; i < model.inputs.size(); ++i) {
        const Port& port = model.inputs[i];
        const std::string name = path_of(model, port);
        const std::optional<Access> access = access_of({index, i}, name, port);
        if (!access) continue;  // a wire inside the merged graph
        step.inputs.push_back(*access);
        plan_.inputs[name] = *access;
        if (merged)
          step.model.inputs.push_back({.name = name, .dtype = port.dtype, .shape = port.shape});
      }
    }
  }

  std::optional<Access> access_of(PortIndex input, const std::string& name, const Port& port) {
    const std::optional<Wiring::Source>& source = wiring_.source_of(input);
    if (!source) return Access{add_value(name, port), false};  // an external input
    if (!source->last_tick && step_of_[source->output.node] == step_of_[input.node]) {
      return std::nullopt;
    }
    const Access& output = plan_.outputs.at(to_string(output_ref(bundle_, source->output)));
    if (!source->last_tick) return output;
    if (wiring_.has_schedule()) {
      const std::size_t own = add_value(name, port);
      plan_.held_feedback.push_back(
          {step_of_[source->output.node], output.value, own, add_value(name, port)});
      return Access{own, false};
    }
    if (!plan_.values[output.value].doubled) {
      plan_.values[output.value].doubled = true;
      return Access{output.value, true};
    }
    const std::size_t own = add_value(name, port);
    plan_.values[own].doubled = true;
    plan_.copies.push_back({output.value, own});
    return Access{own, true};
  }

  // Plans when a step runs. Merged nodes all have the timing of the first one.
  void plan_timing(std::size_t step, std::size_t node) {
    const Timing& timing = wiring_.timing(node);
    StepTiming& planned = plan_.timings.emplace_back();
    planned.timing = timing;
    PlannedStep& target = plan_.steps[step];
    for (const Timing::Carry& carry : timing.carry) {
      Access& access = target.inputs[carry.input];
      const std::size_t own =
          add_value(plan_.values[access.value].name, target.model.inputs[carry.input]);
      planned.fill.push_back({access.value, own});
      planned.carry.push_back({target.outputs[carry.output].value, own});
      access = {own, false};
    }
    if (timing.index) planned.index = target.inputs[*timing.index].value;
    if (timing.when) {
      const PortIndex port = timing.when->port;
      planned.when = timing.when->is_output
                         ? plan_.outputs.at(to_string(output_ref(bundle_, port))).value
                         : plan_.inputs.at(to_string(input_ref(bundle_, port))).value;
    }
    for (const std::size_t input : timing.on_change) {
      planned.watched.push_back(target.inputs[input].value);
    }
    for (const Timing::Age& age : timing.ages) {
      planned.ages.push_back({target.inputs[age.input].value, step_of_[age.node]});
    }
    if (timing.is_plain()) return;
    for (std::size_t i = 0; i < target.outputs.size(); ++i) {
      plan_held_output(step, target.outputs[i].value, target.model.outputs[i]);
    }
  }

  void plan_held_output(std::size_t step, std::size_t value, const Port& port) {
    plan_.values[value].held = true;
    HeldOutput held{step, value, {}};
    for (const Wiring::Connection& wire : wiring_.connections()) {
      const std::string source = to_string(output_ref(bundle_, wire.source));
      if (wire.last_tick || source != plan_.values[value].name) continue;
      held.readers.push_back(to_string(input_ref(bundle_, wire.target)));
    }
    plan_.held_outputs.push_back(std::move(held));
    if (!plan_.timings[step].timing.is_conditional()) return;
    plan_.timings[step].former.push_back({value, add_value(plan_.values[value].name, port)});
  }

  const Bundle& bundle_;
  Wiring wiring_;
  std::vector<std::size_t> step_of_;          // by node
  std::unordered_set<std::string> crossing_;  // outputs that are read outside their own step
  Plan plan_;
};

}  // namespace

Plan make_plan(const Bundle& bundle, const std::vector<std::vector<std::size_t>>& groups) {
  return Planner(bundle, groups).plan(groups);
}

const Access* find_port(const Plan::PortTable& table, std::string_view name,
                        std::string_view suffix) {
  return find_as_annotated(name, suffix, [&](const std::string& key) {
    const auto found = table.find(key);
    return found != table.end() ? &found->second : nullptr;
  });
}

}  // namespace leapp
