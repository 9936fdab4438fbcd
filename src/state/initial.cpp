#include "state/initial.h"

#include "state/names.h"
#include "trace/geometry.h"

namespace leapp::state {
namespace {

// The value of an input in the node's first pass; undefined if unknown.
at::Tensor at_first(const Node& node, const std::string& input) {
  if (node.passes.empty() || !node.passes.front().recording.tape) return {};
  const Pass& first = node.passes.front();
  for (const trace::Recording::Port& port : first.recording.inputs) {
    if (port.name == input) return first.tape().tensor(port.var);
  }
  return {};
}

}  // namespace

std::string find_sensor(std::span<const Node* const> nodes, const void* place) {
  if (place == nullptr) return "";
  for (const Node* node : nodes) {
    for (const NodePort& input : node->inputs) {
      const at::Tensor began = input.source ? at::Tensor() : at_first(*node, input.name);
      if (began.defined() &&
          (trace::begin_of(began) == place || trace::memory_of(began) == place)) {
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
      const at::Tensor began = at_first(*node, input.name);
      const std::string sensor =
          began.defined() ? find_sensor(nodes, trace::begin_of(began)) : std::string();
      if (sensor.empty()) continue;
      findings.push_back(warning(
          Code::kFirstTick, node->passes.front().opened_at, node->name,
          "'" + node->name + "/" + input.name + "' began with the tensor that '" + sensor +
              "' received. The bundle starts with the traced value, not with the value that '" +
              sensor +
              "' has at that time. Choose inside the node, with torch.where() on a state that "
              "marks the first tick."));
    }
  }
  return findings;
}

}  // namespace leapp::state
