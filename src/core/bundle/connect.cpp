#include "bundle/connect.h"

#include <algorithm>
#include <string>

namespace leapp {
namespace {

void add_open(const std::string& node, const std::vector<Port>& ports,
              const std::set<PortRef>& closed, std::vector<NodePorts>& open) {
  NodePorts found{node, {}};
  for (const Port& port : ports) {
    if (!closed.contains({node, port.name})) found.ports.push_back(port.name);
  }
  if (!found.ports.empty()) open.push_back(std::move(found));
}

}  // namespace

void add_wire(std::vector<Wire>& wires, const PortRef& source, const PortRef& target) {
  const auto key = [](const Wire& wire) { return to_string(wire.source); };
  const auto place = std::ranges::lower_bound(wires, to_string(source), {}, key);
  if (place != wires.end() && place->source == source) {
    place->targets.push_back(target);
  } else {
    wires.insert(place, {source, {target}});
  }
}

void list_open_ports(Bundle& bundle, const std::set<PortRef>& hidden) {
  Pipeline& pipeline = bundle.pipeline;
  std::set<PortRef> fed;
  std::set<PortRef> taken = hidden;
  for (const auto* wires : {&pipeline.data_flow, &pipeline.feedback_flow}) {
    for (const Wire& wire : *wires) fed.insert(wire.targets.begin(), wire.targets.end());
  }
  for (const Wire& wire : pipeline.data_flow) taken.insert(wire.source);
  for (const Model& model : bundle.models) {
    add_open(model.name, model.inputs, fed, pipeline.inputs);
    add_open(model.name, model.outputs, taken, pipeline.outputs);
  }
  for (auto* ports : {&pipeline.inputs, &pipeline.outputs}) {
    std::ranges::sort(*ports, {}, &NodePorts::node);
  }
}

}  // namespace leapp
