#include "shadow/shadow_node.h"

#include <algorithm>
#include <cstring>

#include "base/find.h"
#include "base/port_suffix.h"
#include "interop/convert.h"

namespace leapp::shadow {
namespace {

std::optional<std::size_t> find_port(const std::vector<Port>& ports, const std::string& name,
                                     std::string_view suffix) {
  return find_as_annotated(
      name, suffix, [&](const std::string& key) { return index_in(ports, key, &Port::name); });
}

}  // namespace

ShadowNode::ShadowNode(const Model& model, NodeExecutor& executor, std::size_t index)
    : given(model.inputs.size(), Given::kNothing),
      model_(&model),
      executor_(&executor),
      index_(index) {
  report.node = model.name;
}

std::optional<std::size_t> ShadowNode::find_input(const std::string& name) const {
  return find_port(model_->inputs, name, kInputSuffix);
}

std::optional<std::size_t> ShadowNode::find_output(const std::string& name) const {
  return find_port(model_->outputs, name, kOutputSuffix);
}

void ShadowNode::open() {
  if (is_open) ++report.abandoned;
  is_open = true;
  returned = false;
  misfit.reset();
  expected_count_ = 0;
  std::fill(given.begin(), given.end(), Given::kNothing);
}

void ShadowNode::open_again() {
  is_open = true;
  expected_count_ = 0;
}

void ShadowNode::give(std::size_t input, const at::Tensor& value, Given as) {
  const Port& port = model_->inputs[input];
  const at::Tensor host = interop::on_host(value);
  const ConstTensorView view = interop::view_of(host);
  if (view.shape != port.shape || view.dtype != port.dtype) {
    if (misfit) return;
    misfit = ShadowDifference{.port = port.name, .tick = report.ticks + 1};
    misfit->comparison = compare(view, this->input(input).view());
    return;
  }
  executor_->set_input(at(input), view);
  given[input] = as;
}

void ShadowNode::set_input(std::size_t input, const Tensor& value) {
  executor_->set_input(at(input), value.view());
}

void ShadowNode::expect_output(std::size_t output, const at::Tensor& value) {
  if (expected_count_ == expected_.size()) expected_.emplace_back();
  auto& [port, kept] = expected_[expected_count_++];
  port = output;
  const at::Tensor host = interop::on_host(value);
  const ConstTensorView view = interop::view_of(host);
  if (!kept.defined() || kept.scalar_type() != host.scalar_type() || kept.sizes() != host.sizes()) {
    kept = host.clone(at::MemoryFormat::Contiguous);
  } else if (view.byte_size() > 0) {
    std::memcpy(kept.mutable_data_ptr(), view.data, view.byte_size());
  }
}

}  // namespace leapp::shadow
