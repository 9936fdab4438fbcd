#include "shadow/shadow_node.h"

#include <algorithm>
#include <cstring>

#include "interop/convert.h"

namespace leapp::shadow {
namespace {

std::optional<std::size_t> find_port(const std::vector<Port>& ports, const std::string& name,
                                     const char* suffix) {
  for (const std::string& wanted : {name, name + suffix}) {
    const auto it = std::find_if(ports.begin(), ports.end(),
                                 [&](const Port& port) { return port.name == wanted; });
    if (it != ports.end()) return static_cast<std::size_t>(it - ports.begin());
  }
  return std::nullopt;
}

}  // namespace

at::Tensor on_host(const at::Tensor& tensor) {
  if (tensor.is_cpu() && tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg()) {
    return tensor;
  }
  return tensor.detach().resolve_conj().resolve_neg().to(at::kCPU).contiguous();
}

ShadowNode::ShadowNode(const Model& model, std::unique_ptr<Engine> engine)
    : model_(&model), engine_(std::move(engine)) {
  report.node = model.name;
  incoming_wires.resize(model.inputs.size());
  initial.resize(model.inputs.size());
  for (const Port& port : model.inputs) inputs.emplace_back(port.dtype, port.shape);
  given.assign(inputs.size(), Given::kNothing);
  if (!engine_) return;
  std::vector<ConstTensorView> read;
  for (Tensor& input : inputs) read.emplace_back(input.view());
  for (std::size_t half = 0; half < 2; ++half) {
    for (const Port& port : model.outputs) outputs_[half].emplace_back(port.dtype, port.shape);
    std::vector<TensorView> written;
    for (Tensor& output : outputs_[half]) written.push_back(output.view());
    bindings_[half] = engine_->bind(read, written);
  }
}

std::optional<std::size_t> ShadowNode::find_input(const std::string& name) const {
  return find_port(model_->inputs, name, "_in");
}

std::optional<std::size_t> ShadowNode::find_output(const std::string& name) const {
  return find_port(model_->outputs, name, "_out");
}

void ShadowNode::open() {
  if (is_open) ++report.abandoned;
  is_open = true;
  returned = false;
  misfit.reset();
  expected_count_ = 0;
  std::fill(given.begin(), given.end(), Given::kNothing);
}

void ShadowNode::give(std::size_t input, const at::Tensor& value, Given as) {
  const Port& port = model_->inputs[input];
  const at::Tensor host = on_host(value);
  const ConstTensorView view = interop::view_of(host);
  if (view.shape != port.shape || view.dtype != port.dtype) {
    if (misfit) return;
    misfit = ShadowDifference{.port = port.name, .tick = report.ticks + 1};
    misfit->comparison = compare(view, inputs[input].view());
    return;
  }
  if (view.byte_size() > 0) std::memcpy(inputs[input].data(), view.data, view.byte_size());
  given[input] = as;
}

void ShadowNode::set_input(std::size_t input, const Tensor& value) {
  if (value.byte_size() > 0) std::memcpy(inputs[input].data(), value.data(), value.byte_size());
}

void ShadowNode::expect_output(std::size_t output, const at::Tensor& value) {
  if (expected_count_ == expected_.size()) expected_.emplace_back();
  auto& [port, kept] = expected_[expected_count_++];
  port = output;
  const at::Tensor host = on_host(value);
  const ConstTensorView view = interop::view_of(host);
  if (!kept.defined() || kept.scalar_type() != host.scalar_type() || kept.sizes() != host.sizes()) {
    kept = host.clone(at::MemoryFormat::Contiguous);
  } else if (view.byte_size() > 0) {
    std::memcpy(kept.mutable_data_ptr(), view.data, view.byte_size());
  }
}

const Tensor* ShadowNode::put_out(std::size_t output, bool before) const {
  const std::uint64_t back = before ? 2 : 1;
  return ran < back || !engine_ ? nullptr : &outputs_[(ran - back) % 2][output];
}

}  // namespace leapp::shadow
