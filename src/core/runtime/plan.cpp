#include "runtime/plan.h"

#include <unordered_set>

#include "base/check.h"

namespace leapp {
namespace {

std::string path_of(const Model& model, const Port& port) {
  return model.name + "/" + port.name;
}

class Planner {
 public:
  Planner(const Bundle& bundle, const std::vector<std::vector<std::size_t>>& groups)
      : bundle_(bundle) {
    std::unordered_map<std::string, std::size_t> step_of_model;
    for (std::size_t step = 0; step < groups.size(); ++step) {
      for (std::size_t model : groups[step]) step_of_model[bundle.models[model].name] = step;
    }
    for (const Wire& wire : bundle.pipeline.data_flow) {
      const std::size_t from = step_of_model.at(wire.source.node);
      for (const PortRef& target : wire.targets) {
        forward_[to_string(target)] = to_string(wire.source);
        if (step_of_model.at(target.node) != from) crossing_.insert(to_string(wire.source));
      }
    }
    for (const Wire& wire : bundle.pipeline.feedback_flow) {
      crossing_.insert(to_string(wire.source));
      for (const PortRef& target : wire.targets)
        feedback_[to_string(target)] = to_string(wire.source);
    }
    for (const NodePorts& node : bundle.pipeline.outputs) {
      for (const std::string& port : node.ports) crossing_.insert(node.node + "/" + port);
    }
    step_of_model_ = std::move(step_of_model);
  }

  Plan plan(const std::vector<std::vector<std::size_t>>& groups) {
    list_external_ports();
    // Outputs first: an input may read what a later step writes, one tick later.
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
    for (const Wire& wire : bundle_.pipeline.feedback_flow) {
      for (const PortRef& target : wire.targets) plan_.feedback_inputs.push_back(to_string(target));
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
      for (const Port& port : model.inputs) {
        const std::string name = path_of(model, port);
        const std::optional<Access> access = source_of(name, port, model.name);
        if (!access) continue;  // a wire inside the merged graph
        step.inputs.push_back(*access);
        plan_.inputs[name] = *access;
        if (merged)
          step.model.inputs.push_back({.name = name, .dtype = port.dtype, .shape = port.shape});
      }
    }
  }

  std::optional<Access> source_of(const std::string& name, const Port& port,
                                  const std::string& node) {
    if (const auto wire = forward_.find(name); wire != forward_.end()) {
      const std::string& source = wire->second;
      const std::string producer = parse_port_ref(source)->node;
      if (step_of_model_.at(producer) == step_of_model_.at(node) && producer != node) {
        return std::nullopt;
      }
      return plan_.outputs.at(source);
    }
    if (const auto wire = feedback_.find(name); wire != feedback_.end()) {
      const std::size_t source = plan_.outputs.at(wire->second).value;
      if (!plan_.values[source].doubled) {
        plan_.values[source].doubled = true;
        return Access{source, true};
      }
      const std::size_t own = add_value(name, port);
      plan_.values[own].doubled = true;
      plan_.copies.push_back({source, own});
      return Access{own, true};
    }
    return Access{add_value(name, port), false};  // an external input
  }

  const Bundle& bundle_;
  std::unordered_map<std::string, std::size_t> step_of_model_;
  std::unordered_map<std::string, std::string> forward_;   // target -> source
  std::unordered_map<std::string, std::string> feedback_;  // target -> source
  std::unordered_set<std::string> crossing_;  // outputs that are read outside their own step
  Plan plan_;
};

}  // namespace

Plan make_plan(const Bundle& bundle, const std::vector<std::vector<std::size_t>>& groups) {
  return Planner(bundle, groups).plan(groups);
}

const Access* find_port(const Plan::PortTable& table, std::string_view name,
                        std::string_view suffix) {
  std::string key(name);
  if (const auto found = table.find(key); found != table.end()) return &found->second;
  key += suffix;
  const auto found = table.find(key);
  return found != table.end() ? &found->second : nullptr;
}

}  // namespace leapp
