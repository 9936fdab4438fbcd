// Numbers among tensors: what `x * 2` means in a graph.
//
// The 2 reaches the dispatcher as a tensor made of the number, which takes part in type promotion
// as a number would ("wrapped number"). A model file has no such tensors.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstddef>
#include <optional>

namespace leapp::trace {

/// Returns whether the value is a tensor made of a number.
bool is_wrapped_number(const c10::IValue& value);

/// Returns the overload that takes a number at that position and is the same otherwise: mul.Scalar
/// for mul.Tensor. It keeps the meaning of the number in every backend.
std::optional<c10::OperatorHandle> scalar_overload(const c10::OperatorHandle& op,
                                                   std::size_t position);

/// Returns the type that the tensors and numbers of a call promote to together.
c10::ScalarType promoted_type(const c10::IValue* arguments, std::size_t count);

}  // namespace leapp::trace
