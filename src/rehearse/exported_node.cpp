#include "rehearse/exported_node.h"

#include <ranges>

#include "base/find.h"

namespace leapp::rehearse {
namespace {

const std::string& annotated(const std::vector<Port>& ports, const std::vector<std::string>& names,
                             const std::string& port) {
  const auto index = index_in(ports, port, &Port::name);
  return index ? names[*index] : port;
}

State::Values values_of(const State* state, std::size_t pass) {
  return state == nullptr || pass >= state->per_pass.size() ? State::Values{}
                                                            : state->per_pass[pass];
}

}  // namespace

void ExportedNode::keep_names() {
  const auto names_of = [](const std::vector<Port>& ports) {
    const auto names = std::views::transform(ports, &Port::name);
    return std::vector<std::string>(names.begin(), names.end());
  };
  input_names = names_of(model.inputs);
  output_names = names_of(model.outputs);
}

const std::string& ExportedNode::input_name(const std::string& port) const {
  return annotated(model.inputs, input_names, port);
}

const std::string& ExportedNode::output_name(const std::string& port) const {
  return annotated(model.outputs, output_names, port);
}

const State* ExportedNode::find_state(const std::string& name) const {
  return find_where(states.states, [&](const State& state) { return state.slot.name == name; });
}

at::Tensor ExportedNode::input_value(std::size_t pass, const std::string& name) const {
  const auto& inputs = node().passes[pass].recording.inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name == name) return node().passes[pass].inputs[i];
  }
  return values_of(find_state(name), pass).before;
}

at::Tensor ExportedNode::output_value(std::size_t pass, const std::string& name) const {
  const std::vector<at::Tensor>& outputs = node().passes[pass].outputs;
  for (std::size_t i = 0; i < node().outputs.size() && i < outputs.size(); ++i) {
    if (node().outputs[i].name == name) return outputs[i];
  }
  return values_of(find_state(name), pass).after;
}

const ExportedNode* find_node(const std::vector<ExportedNode>& nodes, NodeId id) {
  return find_in(nodes, id, [](const ExportedNode& node) { return node.node().id; });
}

const ExportedNode* find_node(const std::vector<ExportedNode>& nodes, const std::string& name) {
  return find_where(nodes, [&](const ExportedNode& node) { return node.model.name == name; });
}

}  // namespace leapp::rehearse
