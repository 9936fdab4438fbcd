#include "compile/compiled_node.h"

#include <algorithm>

#include "trace/recording.h"

namespace leapp::compile {
namespace {

const std::string& annotated(const std::vector<Port>& ports, const std::vector<std::string>& names,
                             const std::string& port) {
  const auto it =
      std::find_if(ports.begin(), ports.end(), [&](const Port& p) { return p.name == port; });
  return it == ports.end() ? port : names[static_cast<std::size_t>(it - ports.begin())];
}

const State::Values* values_of(const std::vector<State>& states, std::size_t pass,
                               const std::string& name) {
  for (const State& state : states) {
    if (state.slot.name == name && pass < state.per_pass.size()) return &state.per_pass[pass];
  }
  return nullptr;
}

}  // namespace

const std::string& CompiledNode::input_name(const std::string& port) const {
  return annotated(model.inputs, input_names, port);
}

const std::string& CompiledNode::output_name(const std::string& port) const {
  return annotated(model.outputs, output_names, port);
}

at::Tensor CompiledNode::input_value(std::size_t pass, const std::string& name) const {
  const auto& inputs = node->passes[pass].recording.inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name == name) return node->passes[pass].inputs[i];
  }
  const State::Values* values = values_of(states, pass, name);
  return values == nullptr ? at::Tensor() : values->before;
}

at::Tensor CompiledNode::output_value(std::size_t pass, const std::string& name) const {
  const std::vector<at::Tensor>& outputs = node->passes[pass].outputs;
  for (std::size_t i = 0; i < node->outputs.size() && i < outputs.size(); ++i) {
    if (node->outputs[i].name == name) return outputs[i];
  }
  const State::Values* values = values_of(states, pass, name);
  return values == nullptr ? at::Tensor() : values->after;
}

const CompiledNode* find_node(const std::vector<CompiledNode>& nodes, NodeId id) {
  const auto it = std::find_if(nodes.begin(), nodes.end(),
                               [&](const CompiledNode& n) { return n.node->id == id; });
  return it == nodes.end() ? nullptr : &*it;
}

const CompiledNode* find_node(const std::vector<CompiledNode>& nodes, const std::string& name) {
  const auto it = std::find_if(nodes.begin(), nodes.end(),
                               [&](const CompiledNode& n) { return n.model.name == name; });
  return it == nodes.end() ? nullptr : &*it;
}

CompiledNode describe_only(const Node& node) {
  CompiledNode compiled;
  compiled.node = &node;
  compiled.model.name = node.name;
  const auto add = [](std::vector<Port>& ports, std::vector<std::string>& names,
                      const NodePort& port) {
    ports.push_back({port.name, port.dtype, port.shape, port.semantics});
    names.push_back(port.name);
  };
  for (const NodePort& port : node.inputs) {
    add(compiled.model.inputs, compiled.input_names, port);
  }
  for (const NodePort& port : node.outputs) {
    if (!port.is_static) add(compiled.model.outputs, compiled.output_names, port);
  }
  for (std::size_t i = 0; i < node.states.size(); ++i) {
    add(compiled.model.inputs, compiled.input_names, node.states[i]);
    if (node.passes.empty() || !node.passes.front().states[i].updated.defined()) continue;
    add(compiled.model.outputs, compiled.output_names, node.states[i]);
    compiled.state_wires.push_back({node.states[i].name, node.id, node.states[i].name});
    State state = {.origin = State::Origin::kExplicit, .slot = {.name = node.states[i].name}};
    for (const Pass& pass : node.passes) {
      state.per_pass.push_back({pass.states[i].initial, pass.states[i].updated});
    }
    compiled.states.push_back(std::move(state));
  }
  for (const NodePort& port : node.outputs) {
    if (port.is_static) add(compiled.model.outputs, compiled.output_names, port);
  }
  return compiled;
}

std::set<std::string> unused_inputs(const Node& node) {
  if (node.passes.empty() || !node.passes.front().recording.tape) return {};
  const Pass& pass = node.passes.front();
  const trace::Tape& tape = pass.tape();
  std::vector<trace::VarId> live;
  for (const trace::Recording::Port& output : pass.recording.outputs) live.push_back(output.var);
  for (const session::MemoryUse& use : pass.memory) {
    if (use.left.defined()) live.push_back(use.var);
  }
  for (const session::DeclaredState& state : pass.states) live.push_back(state.after);
  for (const session::DeclaredBuffer& buffer : pass.buffers) live.push_back(buffer.after);
  for (const std::int32_t index : trace::slice(tape, live)) {
    trace::for_each_variable(tape, tape.calls()[static_cast<std::size_t>(index)],
                             [&](trace::VarId var) { live.push_back(var); });
  }
  const auto is_read = [&](trace::VarId input) {
    const trace::StoreId store = tape.variable(input).store;
    return std::any_of(live.begin(), live.end(), [&](trace::VarId var) {
      if (var == trace::kNobody || var == input) return var == input;
      return store != trace::kNobody && tape.variable(var).store == store;
    });
  };
  std::set<std::string> unused;
  for (const NodePort& port : node.inputs) {
    const auto& inputs = pass.recording.inputs;
    const auto it = std::find_if(inputs.begin(), inputs.end(),
                                 [&](const auto& each) { return each.name == port.name; });
    if (it != inputs.end() && !is_read(it->var)) unused.insert(port.name);
  }
  return unused;
}

Diagnostic unused_input(const Node& node, const std::string& input) {
  return {.code = Code::kUnusedInput,
          .level = LogLevel::kWarning,
          .node = node.name,
          .text = "input '" + input + "' of node '" + node.name +
                  "' does not reach any output and is left out"};
}

}  // namespace leapp::compile
