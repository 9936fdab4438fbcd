#include "runtime/plan.h"

#include <unordered_set>

#include "base/check.h"
#include "base/port_suffix.h"
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
  }

  Plan plan(const std::vector<std::vector<std::size_t>>& groups) {
    list_external_ports();
    // Outputs first, because an input may read a value that a later step writes, one tick later.
    plan_.steps.resize(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) plan_outputs(plan_.steps[i], groups[i]);
    for (std::size_t i = 0; i < groups.size(); ++i) plan_inputs(plan_.steps[i], groups[i]);
    return std::move(plan_);
  }

 private:
  void list_external_ports() {
    for (const NodePorts& node : bundle_.pipeline.inputs) {
      for (const std::string& port : node.ports) {
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
    if (!plan_.values[output.value].doubled) {
      plan_.values[output.value].doubled = true;
      return Access{output.value, true};
    }
    const std::size_t own = add_value(name, port);
    plan_.values[own].doubled = true;
    plan_.copies.push_back({output.value, own});
    return Access{own, true};
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
