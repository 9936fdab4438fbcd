#include "trace/functional.h"

#include <algorithm>
#include <map>
#include <string>

#include "trace/dispatcher.h"
#include "trace/op_traits.h"

namespace leapp::trace {

namespace functional = at::functionalization::impl;

c10::IValue map_tensors(const c10::IValue& value,
                        c10::function_ref<at::Tensor(const at::Tensor&)> change) {
  if (value.isTensor()) return value.toTensor().defined() ? change(value.toTensor()) : value;
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& item : value.toTensorVector()) list.push_back(change(item));
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const c10::IValue& item : value.toListRef()) {
      list.push_back(item.isTensor() && item.toTensor().defined()
                         ? std::optional<at::Tensor>(change(item.toTensor()))
                         : std::nullopt);
    }
    return list;
  }
  return value;
}

at::Tensor wrap(const at::Tensor& tensor) {
  return functional::isFunctionalTensor(tensor) ? tensor : functional::to_functional_tensor(tensor);
}

at::Tensor unwrap(const at::Tensor& tensor) {
  if (!functional::isFunctionalTensor(tensor)) return tensor;
  functional::sync(tensor);
  return functional::from_functional_tensor(tensor);
}

std::optional<c10::OperatorHandle> declared_view(const c10::OperatorHandle& op) {
  static const std::map<std::string, c10::OperatorName> variants = {
      {"aten::unsafe_chunk", {"aten::chunk", ""}},
      {"aten::unsafe_split", {"aten::split", "Tensor"}},
      {"aten::unsafe_split_with_sizes", {"aten::split_with_sizes", ""}},
      {"aten::_unsafe_view", {"aten::view", ""}},
  };
  const auto it = variants.find(op.schema().name());
  if (it == variants.end()) return std::nullopt;
  return c10::Dispatcher::singleton().findSchema(it->second);
}

bool is_on_meta(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const auto count = static_cast<std::ptrdiff_t>(op.schema().arguments().size());
  return std::any_of(stack.end() - count, stack.end(), [](const c10::IValue& value) {
    return value.isTensor() && value.toTensor().defined() && value.toTensor().is_meta();
  });
}

void run_on_meta(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const OpTraits& traits = traits_of(op);
  const std::size_t first = stack->size() - op.schema().arguments().size();
  torch::jit::Stack written;
  for (std::size_t i = 0; i < traits.writes.size(); ++i) {
    if (traits.writes[i]) written.push_back((*stack)[first + i]);
  }
  if (written.empty() || written.size() != op.schema().returns().size()) {
    call_unobserved(op, stack);
    return;
  }
  stack->resize(first);
  stack->insert(stack->end(), written.begin(), written.end());
}

Functionalising::Functionalising() {
  c10::impl::tls_set_dispatch_key_included(c10::DispatchKey::Functionalize, true);
}

Functionalising::~Functionalising() {
  c10::impl::tls_set_dispatch_key_included(c10::DispatchKey::Functionalize, false);
}

}  // namespace leapp::trace
