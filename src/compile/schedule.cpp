#include "compile/schedule.h"

#include <algorithm>

#include "base/check.h"
#include "base/find.h"

namespace leapp::compile {
namespace {

using rehearse::ExportedNode;

// The name that a port has in the model; empty if the model does not have it.
std::string port_called(const std::vector<std::string>& names, const std::vector<Port>& ports,
                        const std::string& name) {
  const auto index = index_in(names, name);
  return index ? ports[*index].name : std::string();
}
std::string input_called(const ExportedNode& node, const std::string& name) {
  return port_called(node.input_names, node.model.inputs, name);
}
std::string output_called(const ExportedNode& node, const std::string& name) {
  return port_called(node.output_names, node.model.outputs, name);
}

PortRef condition_of(const PortRef& annotated, const ExportedNode& node) {
  std::string port = output_called(node, annotated.port);
  if (port.empty()) port = input_called(node, annotated.port);
  require(!port.empty(), Code::kRates,
          "'" + to_string(annotated) +
              "' decides when a node runs, but it is not a port of its exported model, because it "
              "reaches no output. Return it as an output of its node");
  return {node.model.name, port};
}

// What a node feeds back to itself, its later runs read from the run before.
void carry_feedback(const Bundle& bundle, NodeSchedule& entry) {
  for (const Wire& wire : bundle.pipeline.feedback_flow) {
    if (wire.source.node != entry.node) continue;
    for (const PortRef& target : wire.targets) {
      if (target.node == entry.node) entry.carry[wire.source.port] = target.port;
    }
  }
}

void remove_input(std::vector<NodePorts>& inputs, const std::string& node,
                  const std::string& port) {
  for (NodePorts& each : inputs) {
    if (each.node == node) std::erase(each.ports, port);
  }
  std::erase_if(inputs, [](const NodePorts& each) { return each.ports.empty(); });
}

}  // namespace

std::vector<NodeSchedule> stated_schedule(const std::vector<NodeSchedule>& of_start,
                                          std::span<const session::Node* const> nodes) {
  std::vector<NodeSchedule> entries = of_start;
  for (const session::Node* node : nodes) {
    if (!node->schedule) continue;
    require(find_in(of_start, node->name, &NodeSchedule::node) == nullptr, Code::kWrongValue,
            "leapp.start(schedule=..) and the annotation of node '" + node->name +
                "' both state when it runs. Keep one of them.");
    entries.push_back(*node->schedule);
  }
  return entries;
}

void add_schedule(const std::vector<NodeSchedule>& entries, const std::vector<ExportedNode>& nodes,
                  Bundle& bundle) {
  Pipeline& pipeline = bundle.pipeline;
  for (const NodeSchedule& given : entries) {
    const ExportedNode& node = *rehearse::find_node(nodes, given.node);
    NodeSchedule entry = given;
    entry.carry.clear();
    for (const auto& [output, input] : given.carry) {
      const std::string source = output_called(node, output);
      const std::string target = input_called(node, input);
      if (!source.empty() && !target.empty()) entry.carry[source] = target;
    }
    if (entry.repeat > 1) carry_feedback(bundle, entry);
    entry.index = input_called(node, given.index);
    remove_input(pipeline.inputs, given.node, entry.index);
    if (given.when) {
      entry.when = condition_of(*given.when, *rehearse::find_node(nodes, given.when->node));
    }
    for (std::string& input : entry.on_change) input = input_called(node, input);
    std::erase(entry.on_change, "");
    entry.ages.clear();
    for (const auto& [input, source] : given.ages) {
      const std::string target = input_called(node, input);
      if (target.empty()) continue;
      entry.ages[target] = source;
      remove_input(pipeline.inputs, given.node, target);
    }
    pipeline.schedule.push_back(std::move(entry));
  }
}

}  // namespace leapp::compile
