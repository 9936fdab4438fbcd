#include "compile/wires.h"

#include <set>

#include "base/find.h"
#include "bundle/connect.h"
#include "state/delayed.h"

namespace leapp::compile {
namespace {

using state::State;

// The port of the bundle for an annotated name, if the model kept it.
std::optional<PortRef> port_called(const ExportedNode& node, const std::vector<std::string>& names,
                                   const std::vector<Port>& ports, const std::string& name) {
  const auto index = index_in(names, name);
  return index ? std::optional(PortRef{node.model.name, ports[*index].name}) : std::nullopt;
}

// The source of an input; ports have their annotated names.
struct IncomingWire {
  std::string input;
  State::Feed feed;
  bool last_tick = false;  // of the previous tick, whichever node runs first
};

std::vector<IncomingWire> incoming_wires_of(const ExportedNode& to,
                                            const std::vector<ExportedNode>& nodes) {
  const session::NodeId self = to.node().id;
  std::vector<IncomingWire> incoming;
  for (const session::NodePort& port : to.node().inputs) {
    const ExportedNode* from = port.source ? find_node(nodes, port.source->node) : nullptr;
    if (from == nullptr || to.states.received.count(port.name) > 0) continue;
    incoming.push_back({port.name,
                        {port.source->node, port.source->port},
                        state::delay_of(to.node(), port, from->node()) > 0});
  }
  const auto add_states = [&](bool links) {
    for (std::size_t i = 0; i < to.states.states.size(); ++i) {
      const State& state = to.states.states[i];
      if ((state.origin == State::Origin::kDelayed) != links) continue;
      incoming.push_back({state.slot.name, state.fed_by.value_or(State::Feed{self, {}, i}), links});
    }
  };
  add_states(true);
  for (const auto& [input, link] : to.states.received) {
    incoming.push_back({input, {self, {}, link}, true});
  }
  add_states(false);
  return incoming;
}

}  // namespace

Bundle connect(const std::vector<ExportedNode>& nodes) {
  Bundle bundle;
  std::set<PortRef> hidden;  // outputs that are not in the program
  for (const ExportedNode& to : nodes) {
    bundle.models.push_back(to.model);
    for (const auto& [input, feed, last_tick] : incoming_wires_of(to, nodes)) {
      const ExportedNode* from = find_node(nodes, feed.node);
      if (from == nullptr) continue;
      const std::string& output =
          feed.state ? from->states.states[*feed.state].slot.name : feed.output;
      const auto source = port_called(*from, from->output_names, from->model.outputs, output);
      const auto target = port_called(to, to.input_names, to.model.inputs, input);
      if (!source || !target) continue;  // one of the ports is not in its model
      const bool is_forward = !last_tick && from->node().completion < to.node().completion;
      Pipeline& pipeline = bundle.pipeline;
      add_wire(is_forward ? pipeline.data_flow : pipeline.feedback_flow, *source, *target);
      const session::NodePort* port = session::find_port(from->node().outputs, output);
      if (feed.state || (port != nullptr && port->is_between)) hidden.insert(*source);
    }
  }
  list_open_ports(bundle, hidden);
  return bundle;
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
