#include "state/initial.h"

#include "state/names.h"
#include "trace/geometry.h"

namespace leapp::state {
namespace {

// Where the elements of an input were in the node's first pass; null where that is not known.
const void* place_at_first(const Node& node, const std::string& input) {
  if (node.passes.empty() || !node.passes.front().recording.tape) return nullptr;
  const Pass& first = node.passes.front();
  for (const trace::Recording::Port& port : first.recording.inputs) {
    if (port.name == input) return trace::begin_of(first.tape().tensor(port.var));
  }
  return nullptr;
}

}  // namespace

std::string find_sensor(std::span<const Node* const> nodes, const void* place) {
  if (place == nullptr) return "";
  for (const Node* node : nodes) {
    for (const NodePort& input : node->inputs) {
      if (!input.source && place_at_first(*node, input.name) == place) {
        return node->name + "/" + input.name;
      }
    }
  }
  return "";
}

Findings find_initial(std::span<const Node* const> nodes) {
  Findings findings;
  for (const Node* node : nodes) {
    for (const NodePort& input : node->inputs) {
      if (!input.source || input.age.reads() == 0 || input.age.first().pass == 0) continue;
      const std::string sensor = find_sensor(nodes, place_at_first(*node, input.name));
      if (sensor.empty()) continue;
      findings.push_back(warning(
          Code::kFirstTick, node->passes.front().opened_at, node->name,
          "'" + node->name + "/" + input.name + "' began with the tensor that '" + sensor +
              "' received: the bundle begins with the value that was traced, and not with what '" +
              sensor +
              "' holds then. Choose inside the node, with torch.where() on a state that tells the "
              "first tick."));
    }
  }
  return findings;
}

}  // namespace leapp::state
