#include "compile/wires.h"

#include <algorithm>
#include <set>

#include "state/delayed.h"

namespace leapp::compile {
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

// The port of the bundle that was annotated with the name, if the model kept it.
std::optional<PortRef> port_called(const CompiledNode& node, const std::vector<std::string>& names,
                                   const std::vector<Port>& ports, const std::string& name) {
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) return std::nullopt;
  return PortRef{node.model.name, ports[static_cast<std::size_t>(it - names.begin())].name};
}

// Whether states stand between an input and its source.
bool is_delayed(const CompiledNode& node, const std::string& input) {
  return std::any_of(node.state_wires.begin(), node.state_wires.end(),
                     [&](const CompiledNode::StateWire& state) { return state.input == input; });
}

}  // namespace

Pipeline connect(const std::vector<CompiledNode>& nodes) {
  Wires forward;
  Wires feedback;
  std::set<PortRef> fed;            // inputs that have a source
  std::set<PortRef> consumed;       // outputs that a forward wire consumes
  std::set<PortRef> state_outputs;  // outputs that the program does not have
  // Ports by the names they were annotated with; nothing when either is not in its model.
  const auto wire = [&](const CompiledNode& to, const std::string& input, NodeId id,
                        const std::string& output, bool is_state, bool last_tick) {
    const CompiledNode* from = find_node(nodes, id);
    if (from == nullptr) return;
    const auto source = port_called(*from, from->output_names, from->model.outputs, output);
    const auto target = port_called(to, to.input_names, to.model.inputs, input);
    if (!source || !target) return;
    const bool is_forward = !last_tick && from->node->completion < to.node->completion;
    (is_forward ? forward : feedback).add(*source, *target);
    fed.insert(*target);
    if (is_forward) consumed.insert(*source);
    if (is_state) state_outputs.insert(*source);
    const NodePort* port = session::find_port(from->node->outputs, output);
    if (port != nullptr && port->is_between) state_outputs.insert(*source);
  };
  for (const CompiledNode& to : nodes) {
    for (const NodePort& port : to.node->inputs) {
      const CompiledNode* from = port.source ? find_node(nodes, port.source->node) : nullptr;
      if (from == nullptr || is_delayed(to, port.name)) continue;
      const bool last_tick = state::delay_of(*to.node, port, *from->node) > 0;
      wire(to, port.name, port.source->node, port.source->port, false, last_tick);
    }
    for (const CompiledNode::StateWire& state : to.state_wires) {
      wire(to, state.input, state.from, state.output, state.only_state, state.last_tick);
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

}  // namespace leapp::compile
