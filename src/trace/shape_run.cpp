#include "trace/shape_run.h"

#include <ATen/ops/empty_strided.h>

#include <set>
#include <string>

namespace leapp::trace {
namespace {

// Below this many elements computing takes no longer than working out the shape.
constexpr std::int64_t kLarge = 1 << 16;

bool has_elements(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined();
}

at::Tensor like(const at::Tensor& tensor, c10::Device device) {
  return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(device));
}

}  // namespace

bool is_large_product(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  static const std::set<std::string> products = {
      "aten::convolution", "aten::_convolution", "aten::conv1d", "aten::conv2d",
      "aten::conv3d",      "aten::linear",       "aten::matmul", "aten::mm",
      "aten::addmm",       "aten::bmm",          "aten::baddbmm"};
  if (products.count(op.schema().name()) == 0 || !op.schema().overload_name().empty()) return false;
  std::int64_t elements = 0;
  for (std::size_t i = stack.size() - op.schema().arguments().size(); i < stack.size(); ++i) {
    if (!has_elements(stack[i])) continue;
    const at::Tensor& tensor = stack[i].toTensor();
    if (tensor.layout() != at::kStrided) return false;
    elements += tensor.numel();
  }
  return elements >= kLarge;
}

void run_on_shapes(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::size_t first = stack->size() - op.schema().arguments().size();
  c10::Device device = c10::kCPU;
  for (std::size_t i = first; i < stack->size(); ++i) {
    if (!has_elements((*stack)[i])) continue;
    device = (*stack)[i].toTensor().device();
    (*stack)[i] = like((*stack)[i].toTensor(), c10::kMeta);
  }
  op.callBoxed(stack);
  for (std::size_t i = first; i < stack->size(); ++i) {
    if (has_elements((*stack)[i])) (*stack)[i] = like((*stack)[i].toTensor(), device).zero_();
  }
}

}  // namespace leapp::trace
