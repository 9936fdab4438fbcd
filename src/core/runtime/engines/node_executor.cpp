#include "runtime/engines/node_executor.h"

#include <algorithm>
#include <cstring>

namespace leapp {
namespace {

// Both have the same type and shape.
void copy(const Tensor& from, Tensor& to) noexcept {
  if (to.byte_size() > 0) std::memcpy(to.data(), from.data(), to.byte_size());
}

}  // namespace

NodeExecutor::NodeExecutor(const Bundle& bundle) : wiring_(bundle) {
  for (const Model& model : bundle.models) {
    Node& node = nodes_.emplace_back();
    node.initial.resize(model.inputs.size());
    for (const Port& port : model.inputs) node.inputs.emplace_back(port.dtype, port.shape);
    for (std::vector<Tensor>& outputs : node.outputs) {
      for (const Port& port : model.outputs) outputs.emplace_back(port.dtype, port.shape);
    }
  }
  for (std::size_t i = 0; i < nodes_.size() && wiring_.has_schedule(); ++i) {
    nodes_[i].held = nodes_[i].outputs[0];
    for (const std::size_t input : wiring_.timing(i).on_change) {
      nodes_[i].seen.push_back(nodes_[i].inputs[input]);
    }
    for (const Timing::Carry& carry : wiring_.timing(i).carry) {
      nodes_[i].given.push_back(nodes_[i].inputs[carry.input]);
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

void NodeExecutor::set_held(PortIndex output, const ConstTensorView& value) {
  nodes_.at(output.node).held.at(output.port) = Tensor(value);
}

const Tensor* NodeExecutor::carried(PortIndex input) const {
  const std::optional<Wiring::Source>& source = wiring_.source_of(input);
  if (!source) return nullptr;
  if (!wiring_.has_schedule()) {
    const Tensor* value = output(source->output, source->runs_ago);
    return value == nullptr && source->last_tick ? initial(input) : value;
  }
  if (!source->last_tick) return &latest(source->output);
  const bool ran_already = nodes_[source->output.node].last_run == tick_;
  const Tensor* value = output(source->output, ran_already ? 2 : 1);
  return value == nullptr ? initial(input) : value;
}

const Tensor& NodeExecutor::latest(PortIndex port) const {
  const Tensor* const value = output(port, 1);
  return value != nullptr ? *value : nodes_[port.node].held[port.port];
}

bool NodeExecutor::is_fed_by_schedule(PortIndex input) const {
  const Timing& timing = wiring_.timing(input.node);
  const auto fed = [&](const Timing::Age& age) { return age.input == input.port; };
  return timing.index == input.port || std::ranges::any_of(timing.ages, fed);
}

bool NodeExecutor::is_due(std::size_t index) const {
  const Timing& timing = wiring_.timing(index);
  const Node& node = nodes_[index];
  if (!timing.is_due(static_cast<std::uint64_t>(tick_))) return false;
  if (timing.when) {
    const Tensor& value =
        timing.when->is_output ? latest(timing.when->port) : input(timing.when->port);
    if (*static_cast<const std::uint8_t*>(value.data()) == 0) return false;
  }
  if (timing.on_change.empty() || node.last_run == kNeverRan) return true;
  for (std::size_t i = 0; i < timing.on_change.size(); ++i) {
    if (node.seen[i] != node.inputs[timing.on_change[i]]) return true;
  }
  return false;
}

Result<void> NodeExecutor::run(std::size_t index) noexcept {
  Node& node = nodes_[index];
  const Timing& timing = wiring_.timing(index);
  for (const Timing::Age& age : timing.ages) {
    const std::int64_t last_run = nodes_[age.node].last_run;
    write_count({index, age.input}, last_run == kNeverRan ? kNeverRan : tick_ - last_run);
  }
  for (std::size_t i = 0; i < timing.carry.size(); ++i) {
    copy(node.inputs[timing.carry[i].input], node.given[i]);
  }
  Result<void> ran;
  for (std::int64_t run = 0; ran && run < timing.repeat; ++run) {
    for (const Timing::Carry& carry : timing.carry) {
      if (run > 0) copy(result({index, carry.output}), node.inputs[carry.input]);
    }
    if (timing.index) write_count({index, *timing.index}, run);
    for (const auto& [input, values] : node.by_run) {
      const std::size_t bytes = node.inputs[input].byte_size();
      const auto* const data = static_cast<const std::byte*>(values.data());
      std::memcpy(node.inputs[input].data(), data + static_cast<std::size_t>(run) * bytes, bytes);
    }
    ran = node.next_binding().run();
  }
  for (std::size_t i = 0; i < timing.carry.size(); ++i) {
    copy(node.given[i], node.inputs[timing.carry[i].input]);
  }
  return ran;
}

void NodeExecutor::set_runs(PortIndex input, const ConstTensorView& values) {
  nodes_.at(input.node).by_run.insert_or_assign(input.port, Tensor(values));
}

void NodeExecutor::write_count(PortIndex input, std::int64_t count) noexcept {
  Tensor& to = nodes_[input.node].inputs[input.port];
  const auto narrow = static_cast<std::int32_t>(count);
  const bool is_narrow = to.dtype() == DType::kInt32;
  std::memcpy(to.data(), is_narrow ? static_cast<const void*>(&narrow) : &count, to.byte_size());
}

void NodeExecutor::commit(std::size_t index) noexcept {
  Node& node = nodes_[index];
  ++node.runs;
  if (!wiring_.has_schedule()) return;
  node.last_run = tick_;
  const std::vector<std::size_t>& watched = wiring_.timing(index).on_change;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    copy(node.inputs[watched[i]], node.seen[i]);
  }
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
