// Data-dependent shapes: finds dynamic dimensions by running operators with other sizes.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace leapp::trace {

/// The dynamic dimensions of a tensor, whose sizes depend on values of traced tensors: one bit for
/// each.
using DynamicDims = std::uint64_t;

/// Returns the tensors of a call's arguments or results, in order, including those in lists and
/// absent ones.
std::vector<at::Tensor> tensors_in(const c10::IValue* values, std::size_t count);

/// Visits the tensors of a value, or of arguments or results, in order; skips absent ones.
template <typename Visit>
void for_each_tensor(const c10::IValue& value, Visit&& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (value.isTensorList() || value.isOptionalTensorList()) {
    for (const c10::IValue& item : value.toListRef()) {
      if (item.isTensor() && item.toTensor().defined()) visit(item.toTensor());
    }
  }
}
template <typename Visit>
void for_each_tensor(std::span<const c10::IValue> values, Visit&& visit) {
  for (const c10::IValue& value : values) for_each_tensor(value, visit);
}

/// Returns the dynamic dimensions of each of the arguments' tensors, for try_other_sizes(); empty
/// if there are none. `known` returns the known ones of a tensor, `is_traced` whether its values
/// may vary.
std::vector<DynamicDims> dynamic_dims_of_arguments(
    const c10::OperatorHandle& op, const torch::jit::Stack& arguments,
    const std::function<DynamicDims(const at::Tensor&)>& known,
    const std::function<bool(const at::Tensor&)>& is_traced);

/// The effect of different argument sizes on a call.
struct SizeTrial {
  std::vector<DynamicDims> results;  ///< dynamic dimensions of each returned tensor
  bool fixed = false;                ///< specialised: it works only with the traced sizes
};

/// Runs the call on stand-ins for its tensors, once as it was and once with larger dynamic
/// dimensions. `dynamic` has those of each of the arguments' tensors; for a mask in an index,
/// whether the number of elements it selects is dynamic. Takes no lock. May run operators written
/// in Python if zeros are not sufficient.
SizeTrial try_other_sizes(const c10::OperatorHandle& op, const torch::jit::Stack& arguments,
                          const std::vector<DynamicDims>& dynamic,
                          const torch::jit::Stack& results);

}  // namespace leapp::trace
