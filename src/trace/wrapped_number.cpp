#include "trace/wrapped_number.h"

#include <ATen/native/TypeProperties.h>

#include <string>

namespace leapp::trace {

bool is_wrapped_number(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() &&
         value.toTensor().unsafeGetTensorImpl()->is_wrapped_number();
}

std::optional<c10::OperatorHandle> scalar_overload(const c10::OperatorHandle& op,
                                                   std::size_t position) {
  const c10::FunctionSchema& schema = op.schema();
  for (const char* overload : {"Scalar", "Tensor_Scalar", "Scalar_mode"}) {
    const auto found =
        c10::Dispatcher::singleton().findSchema({schema.name(), std::string(overload)});
    if (!found) continue;
    const auto& theirs = found->schema().arguments();
    const auto& ours = schema.arguments();
    if (theirs.size() != ours.size()) continue;
    bool fits = true;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const auto expected = i == position ? c10::TypeKind::NumberType : ours[i].type()->kind();
      fits &= theirs[i].name() == ours[i].name() && theirs[i].type()->kind() == expected;
    }
    if (fits) return found;
  }
  return std::nullopt;
}

c10::ScalarType promoted_type(const c10::IValue* arguments, std::size_t count) {
  at::native::ResultTypeState state = {};
  for (std::size_t i = 0; i < count; ++i) {
    if (arguments[i].isTensor() && arguments[i].toTensor().defined()) {
      state = at::native::update_result_type_state(arguments[i].toTensor(), state);
    }
  }
  return at::native::result_type(state);
}

}  // namespace leapp::trace
