#include "session/wires.h"

#include <algorithm>
#include <set>

namespace leapp::session {
namespace {

class Wires {
 public:
  void add(const PortRef& source, const PortRef& target) {
    const auto it = std::find_if(wires_.begin(), wires_.end(),
                                 [&](const Wire& wire) { return wire.source == source; });
    if (it != wires_.end()) {
      it->targets.push_back(target);
    } else {
      wires_.push_back({source, {target}});
    }
  }

  // The YAML's pipeline section is sorted by key.
  std::vector<Wire> sorted() && {
    std::sort(wires_.begin(), wires_.end(), [](const Wire& a, const Wire& b) {
      return to_string(a.source) < to_string(b.source);
    });
    return std::move(wires_);
  }

 private:
  std::vector<Wire> wires_;
};

void add_port(std::vector<NodePorts>& list, const std::string& node, const std::string& port) {
  if (list.empty() || list.back().node != node) list.push_back({node, {}});
  list.back().ports.push_back(port);
}

const CompiledNode* find(const std::vector<CompiledNode>& nodes, NodeId id) {
  const auto it = std::find_if(nodes.begin(), nodes.end(),
                               [&](const CompiledNode& n) { return n.node->id == id; });
  return it == nodes.end() ? nullptr : &*it;
}

}  // namespace

Pipeline connect(const std::vector<CompiledNode>& nodes) {
  Wires forward;
  Wires feedback;
  std::set<PortRef> fed;            // inputs that have a source
  std::set<PortRef> consumed;       // outputs that a forward wire consumes
  std::set<PortRef> state_outputs;  // outputs that are nothing but state
  for (const CompiledNode& to : nodes) {
    const std::string& name = to.model.name;
    for (std::size_t i = 0; i < to.model.inputs.size(); ++i) {
      const std::string& port = to.model.inputs[i].name;
      const auto& declared = to.node->inputs;
      const auto it = std::find_if(declared.begin(), declared.end(),
                                   [&](const NodePort& p) { return p.name == to.input_names[i]; });
      if (it == declared.end() || !it->source) continue;
      const CompiledNode* from = find(nodes, it->source->node);
      if (from == nullptr) continue;
      const auto out =
          std::find(from->output_names.begin(), from->output_names.end(), it->source->port);
      if (out == from->output_names.end()) continue;
      const auto index = static_cast<std::size_t>(out - from->output_names.begin());
      const PortRef source{from->model.name, from->model.outputs[index].name};
      const PortRef target{name, port};
      const bool is_forward = from->node->completion < to.node->completion;
      (is_forward ? forward : feedback).add(source, target);
      if (is_forward) consumed.insert(source);
      fed.insert(target);
    }
    for (const auto& [input, output] : to.state_wires) {
      feedback.add({name, output}, {name, input});
      fed.insert({name, input});
      state_outputs.insert({name, output});
    }
  }
  Pipeline pipeline;
  pipeline.data_flow = std::move(forward).sorted();
  pipeline.feedback_flow = std::move(feedback).sorted();
  for (const CompiledNode& node : nodes) {
    for (const Port& port : node.model.inputs) {
      if (fed.count({node.model.name, port.name}) == 0) {
        add_port(pipeline.inputs, node.model.name, port.name);
      }
    }
    for (const Port& port : node.model.outputs) {
      const PortRef ref{node.model.name, port.name};
      if (consumed.count(ref) == 0 && state_outputs.count(ref) == 0) {
        add_port(pipeline.outputs, node.model.name, port.name);
      }
    }
  }
  const auto by_node = [](const NodePorts& a, const NodePorts& b) { return a.node < b.node; };
  std::stable_sort(pipeline.inputs.begin(), pipeline.inputs.end(), by_node);
  std::stable_sort(pipeline.outputs.begin(), pipeline.outputs.end(), by_node);
  return pipeline;
}

std::vector<std::string> statistics(const Bundle& bundle) {
  const auto ports = [](const std::vector<NodePorts>& list) {
    std::size_t count = 0;
    for (const NodePorts& node : list) count += node.ports.size();
    return count;
  };
  const auto edges = [](const std::vector<Wire>& wires) {
    std::size_t count = 0;
    for (const Wire& wire : wires) count += wire.targets.size();
    return count;
  };
  const std::size_t inputs = ports(bundle.pipeline.inputs);
  const std::size_t outputs = ports(bundle.pipeline.outputs);
  const std::size_t internal =
      edges(bundle.pipeline.data_flow) + edges(bundle.pipeline.feedback_flow);
  return {"Computation nodes: " + std::to_string(bundle.models.size()),
          "Dangling inputs: " + std::to_string(inputs),
          "Dangling outputs: " + std::to_string(outputs),
          "Internal connections: " + std::to_string(internal),
          "Total edges: " + std::to_string(inputs + outputs + internal)};
}

}  // namespace leapp::session
