#include "compile/wires.h"

#include <algorithm>
#include <set>

#include "state/delayed.h"

namespace leapp::compile {
namespace {

using state::State;

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
std::optional<PortRef> port_called(const ExportedNode& node, const std::vector<std::string>& names,
                                   const std::vector<Port>& ports, const std::string& name) {
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) return std::nullopt;
  return PortRef{node.model.name, ports[static_cast<std::size_t>(it - names.begin())].name};
}

// Ports go by the names they were annotated with.
class Wiring {
 public:
  explicit Wiring(const std::vector<ExportedNode>& nodes) : nodes_(nodes) {}

  void add_inputs(const ExportedNode& to);
  Pipeline finish() &&;

 private:
  void wire(const ExportedNode& to, const std::string& input, const State::Feed& feed,
            bool last_tick);

  const std::vector<ExportedNode>& nodes_;
  Wires forward_;
  Wires feedback_;
  std::set<PortRef> fed_;       // inputs that have a source
  std::set<PortRef> consumed_;  // outputs that a forward wire consumes
  std::set<PortRef> hidden_;    // outputs that the program does not have
};

// Nothing when either port is not in its model.
void Wiring::wire(const ExportedNode& to, const std::string& input, const State::Feed& feed,
                  bool last_tick) {
  const ExportedNode* from = find_node(nodes_, feed.node);
  if (from == nullptr) return;
  const std::string& output = feed.state ? from->states.states[*feed.state].slot.name : feed.output;
  const auto source = port_called(*from, from->output_names, from->model.outputs, output);
  const auto target = port_called(to, to.input_names, to.model.inputs, input);
  if (!source || !target) return;
  const bool is_forward = !last_tick && from->node().completion < to.node().completion;
  (is_forward ? forward_ : feedback_).add(*source, *target);
  fed_.insert(*target);
  if (is_forward) consumed_.insert(*source);
  const session::NodePort* port = session::find_port(from->node().outputs, output);
  if (feed.state || (port != nullptr && port->is_between)) hidden_.insert(*source);
}

void Wiring::add_inputs(const ExportedNode& to) {
  const session::NodeId self = to.node().id;
  for (const session::NodePort& port : to.node().inputs) {
    const ExportedNode* from = port.source ? find_node(nodes_, port.source->node) : nullptr;
    if (from == nullptr || to.states.received.count(port.name) > 0) continue;
    wire(to, port.name, {port.source->node, port.source->port},
         state::delay_of(to.node(), port, from->node()) > 0);
  }
  const auto add_states = [&](bool links) {
    for (std::size_t i = 0; i < to.states.states.size(); ++i) {
      const State& state = to.states.states[i];
      if ((state.origin == State::Origin::kDelayed) != links) continue;
      wire(to, state.slot.name, state.fed_by.value_or(State::Feed{self, {}, i}), links);
    }
  };
  add_states(true);
  for (const auto& [input, link] : to.states.received) wire(to, input, {self, {}, link}, true);
  add_states(false);
}

Pipeline Wiring::finish() && {
  Pipeline pipeline;
  pipeline.data_flow = std::move(forward_).sorted();
  pipeline.feedback_flow = std::move(feedback_).sorted();
  for (const ExportedNode& node : nodes_) {
    const std::string& name = node.model.name;
    for (const Port& port : node.model.inputs) {
      if (fed_.count({name, port.name}) == 0) add_port(pipeline.inputs, name, port.name);
    }
    for (const Port& port : node.model.outputs) {
      const PortRef ref{name, port.name};
      if (consumed_.count(ref) + hidden_.count(ref) == 0) {
        add_port(pipeline.outputs, name, port.name);
      }
    }
  }
  const auto by_node = [](const NodePorts& a, const NodePorts& b) { return a.node < b.node; };
  std::stable_sort(pipeline.inputs.begin(), pipeline.inputs.end(), by_node);
  std::stable_sort(pipeline.outputs.begin(), pipeline.outputs.end(), by_node);
  return pipeline;
}

}  // namespace

Pipeline connect(const std::vector<ExportedNode>& nodes) {
  Wiring wiring(nodes);
  for (const ExportedNode& node : nodes) wiring.add_inputs(node);
  return std::move(wiring).finish();
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
