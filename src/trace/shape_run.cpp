#include "trace/shape_run.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <map>
#include <string>

namespace leapp::trace {
namespace {

// Below this number of elements, computing is not slower than inferring the shape.
constexpr std::int64_t kLarge = 1 << 16;

/// The operands of an operator that multiplies.
struct Product {
  std::size_t left = 0;  ///< position of the first factor; the other one follows
  bool convolves = false;
  bool transposes_right = false;
};

const Product* product_of(const c10::OperatorHandle& op) {
  static const std::map<std::string, Product> products = {
      {"aten::convolution", {.convolves = true}},
      {"aten::_convolution", {.convolves = true}},
      {"aten::conv1d", {.convolves = true}},
      {"aten::conv2d", {.convolves = true}},
      {"aten::conv3d", {.convolves = true}},
      {"aten::linear", {.transposes_right = true}},
      {"aten::matmul", {}},
      {"aten::mm", {}},
      {"aten::bmm", {}},
      {"aten::addmm", {.left = 1}},
      {"aten::baddbmm", {.left = 1}},
  };
  const auto it = products.find(op.schema().name());
  return it == products.end() || !op.schema().overload_name().empty() ? nullptr : &it->second;
}

bool is_tensor(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined();
}

// The values do not matter, so the sum is over no elements.
void multiply(const c10::OperatorHandle& op, const Product& product, torch::jit::Stack* stack) {
  c10::IValue* factors =
      stack->data() + (stack->size() - op.schema().arguments().size() + product.left);
  const at::Tensor right = factors[1].toTensor();
  factors[0] = factors[0].toTensor().narrow(-1, 0, 0);
  factors[1] = right.narrow(product.transposes_right || right.dim() == 1 ? -1 : -2, 0, 0);
  op.callBoxed(stack);
}

// One sample and one channel are convolved; the other sizes are known.
void convolve(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const c10::FunctionSchema& schema = op.schema();
  c10::IValue* args = stack->data() + (stack->size() - schema.arguments().size());
  const auto argument = [&](const char* name) -> c10::IValue* {
    const auto index = schema.argumentIndexWithName(name);
    return index ? args + *index : nullptr;
  };
  const at::Tensor input = args[0].toTensor();
  const at::Tensor weight = args[1].toTensor();
  c10::IValue& groups = *argument("groups");
  const c10::IValue* transposed = argument("transposed");
  const bool batched = input.dim() == weight.dim();
  const std::int64_t channels = transposed != nullptr && transposed->toBool()
                                    ? weight.size(1) * groups.toInt()
                                    : weight.size(0);
  args[0] = (batched ? input.narrow(0, 0, std::min<std::int64_t>(1, input.size(0))) : input)
                .narrow(batched ? 1 : 0, 0, 1);
  args[1] = weight.narrow(0, 0, 1).narrow(1, 0, 1);
  args[2] = c10::IValue();
  groups = 1;
  op.callBoxed(stack);
  std::vector<std::int64_t> sizes = stack->back().toTensor().sizes().vec();
  if (batched) sizes[0] = input.size(0);
  sizes[batched ? 1 : 0] = channels;
  stack->back() = at::empty(sizes, input.options());
}

}  // namespace

bool is_large_product(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  if (product_of(op) == nullptr) return false;
  std::int64_t elements = 0;
  for (std::size_t i = stack.size() - op.schema().arguments().size(); i < stack.size(); ++i) {
    if (!is_tensor(stack[i])) continue;
    const at::Tensor& tensor = stack[i].toTensor();
    if (tensor.layout() != at::kStrided) return false;
    elements += tensor.numel();
  }
  return elements >= kLarge;
}

void run_on_shapes(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const Product& product = *product_of(op);
  if (product.convolves) {
    convolve(op, stack);
  } else {
    multiply(op, product, stack);
  }
  stack->back().toTensor().zero_();
}

}  // namespace leapp::trace
