#include "trace/functional.h"

#include <map>
#include <string>

namespace leapp::trace {

namespace functional = at::functionalization::impl;

c10::IValue map_tensors(const c10::IValue& value, at::Tensor (*change)(const at::Tensor&)) {
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

Functionalising::Functionalising() {
  c10::impl::tls_set_dispatch_key_included(c10::DispatchKey::Functionalize, true);
}

Functionalising::~Functionalising() {
  c10::impl::tls_set_dispatch_key_included(c10::DispatchKey::Functionalize, false);
}

}  // namespace leapp::trace
