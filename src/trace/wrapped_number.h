// Numbers among tensors, such as the 2 in `x * 2`.
//
// The dispatcher receives the 2 as a tensor that is promoted like a number ("wrapped number"). A
// model file has no such tensors.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstddef>
#include <optional>

namespace leapp::trace {

/// Returns whether the value is a wrapped number.
bool is_wrapped_number(const c10::IValue& value);

/// Returns the overload that takes a number at that position: mul.Scalar for mul.Tensor. It has the
/// same meaning in every backend.
std::optional<c10::OperatorHandle> scalar_overload(const c10::OperatorHandle& op,
                                                   std::size_t position);

/// Returns the type that the tensors and numbers of a call promote to together.
c10::ScalarType promoted_type(const c10::IValue* arguments, std::size_t count);

}  // namespace leapp::trace
