#include "runtime/engines/node_executor.h"

#include <cstring>

namespace leapp {

NodeExecutor::NodeExecutor(const Bundle& bundle) : wiring_(bundle) {
  for (const Model& model : bundle.models) {
    Node& node = nodes_.emplace_back();
    node.initial.resize(model.inputs.size());
    for (const Port& port : model.inputs) node.inputs.emplace_back(port.dtype, port.shape);
    for (std::vector<Tensor>& outputs : node.outputs) {
      for (const Port& port : model.outputs) outputs.emplace_back(port.dtype, port.shape);
    }
  }
  for (const Wiring::Connection& wire : wiring_.connections()) {
    if (!wire.last_tick) continue;
    const Tensor& value = input(wire.target);
    nodes_[wire.target.node].initial[wire.target.port].emplace(value.dtype(), value.shape());
  }
}

void NodeExecutor::load(std::size_t index, std::unique_ptr<Engine> engine) {
  Node& node = nodes_.at(index);
  std::vector<ConstTensorView> read;
  for (Tensor& each : node.inputs) read.emplace_back(each.view());
  for (std::size_t half = 0; half < 2; ++half) {
    std::vector<TensorView> written;
    for (Tensor& output : node.outputs[half]) written.push_back(output.view());
    node.bindings[half] = engine->bind(read, written);
  }
  node.engine = std::move(engine);
}

void NodeExecutor::set_initial(PortIndex input, const ConstTensorView& value) {
  nodes_.at(input.node).initial.at(input.port) = Tensor(value);
}

const Tensor* NodeExecutor::initial(PortIndex input) const {
  const std::optional<Tensor>& value = nodes_[input.node].initial[input.port];
  return value ? &*value : nullptr;
}

void NodeExecutor::set_input(PortIndex input, const ConstTensorView& value) {
  Tensor& to = nodes_[input.node].inputs[input.port];
  if (to.byte_size() > 0) std::memcpy(to.data(), value.data, to.byte_size());
}

const Tensor* NodeExecutor::carried(PortIndex input) const {
  const std::optional<Wiring::Source>& source = wiring_.source_of(input);
  if (!source) return nullptr;
  const Tensor* value = output(source->output, source->runs_ago);
  return value == nullptr && source->last_tick ? initial(input) : value;
}

const Tensor& NodeExecutor::result(PortIndex output) const {
  const Node& node = nodes_[output.node];
  return node.outputs[node.runs % 2][output.port];
}

const Tensor* NodeExecutor::output(PortIndex output, std::size_t runs_ago) const {
  const Node& node = nodes_[output.node];
  if (!node.engine || node.runs < runs_ago) return nullptr;
  return &node.outputs[(node.runs - runs_ago) % 2][output.port];
}

}  // namespace leapp
