#include "compile/wires.h"

#include <algorithm>
#include <set>

#include "bundle/wiring.h"
#include "state/delayed.h"

namespace leapp::compile {
namespace {

using state::State;

// The port of the bundle that was annotated with the name, if the model kept it.
std::optional<PortRef> port_called(const ExportedNode& node, const std::vector<std::string>& names,
                                   const std::vector<Port>& ports, const std::string& name) {
  const auto it = std::ranges::find(names, name);
  if (it == names.end()) return std::nullopt;
  return PortRef{node.model.name, ports[static_cast<std::size_t>(it - names.begin())].name};
}

// Ports go by the names they were annotated with.
class Wiring {
 public:
  explicit Wiring(const std::vector<ExportedNode>& nodes) : nodes_(nodes) {}

  void add_inputs(const ExportedNode& to);
  Bundle finish() &&;

 private:
  void wire(const ExportedNode& to, const std::string& input, const State::Feed& feed,
            bool last_tick);

  const std::vector<ExportedNode>& nodes_;
  Bundle bundle_;
  std::set<PortRef> hidden_;  // outputs that the program does not have
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
  Pipeline& pipeline = bundle_.pipeline;
  add_wire(is_forward ? pipeline.data_flow : pipeline.feedback_flow, *source, *target);
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

Bundle Wiring::finish() && {
  for (const ExportedNode& node : nodes_) bundle_.models.push_back(node.model);
  list_open_ports(bundle_, hidden_);
  return std::move(bundle_);
}

}  // namespace

Bundle connect(const std::vector<ExportedNode>& nodes) {
  Wiring wiring(nodes);
  for (const ExportedNode& node : nodes) wiring.add_inputs(node);
  return std::move(wiring).finish();
}

std::vector<std::string> statistics(const Bundle& bundle) {
  const auto count = [](const auto& list, auto part) {
    std::size_t total = 0;
    for (const auto& each : list) total += (each.*part).size();
    return total;
  };
  const std::size_t inputs = count(bundle.pipeline.inputs, &NodePorts::ports);
  const std::size_t outputs = count(bundle.pipeline.outputs, &NodePorts::ports);
  const std::size_t internal = count(bundle.pipeline.data_flow, &Wire::targets) +
                               count(bundle.pipeline.feedback_flow, &Wire::targets);
  return {"Computation nodes: " + std::to_string(bundle.models.size()),
          "Dangling inputs: " + std::to_string(inputs),
          "Dangling outputs: " + std::to_string(outputs),
          "Internal connections: " + std::to_string(internal),
          "Total edges: " + std::to_string(inputs + outputs + internal)};
}

}  // namespace leapp::compile
