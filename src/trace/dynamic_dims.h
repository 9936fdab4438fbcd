// Data-dependent shapes: which dimensions are dynamic, found by running operators on other sizes.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace leapp::trace {

/// The dynamic dimensions of a tensor, whose sizes depend on the values of traced tensors: a bit
/// for each.
using DynamicDims = std::uint64_t;

/// Tensors of a call's arguments or results in order, those in lists included. Absent ones count.
std::vector<at::Tensor> tensors_in(const c10::IValue* values, std::size_t count);

/// Visits the tensors of a value, or of arguments or results in order; absent ones are left out.
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
/// when there are none. `known` gives those of a tensor so far, `is_traced` whether its values may
/// be others.
std::vector<DynamicDims> dynamic_dims_of_arguments(
    const c10::OperatorHandle& op, const torch::jit::Stack& arguments,
    const std::function<DynamicDims(const at::Tensor&)>& known,
    const std::function<bool(const at::Tensor&)>& is_traced);

/// The effect of different argument sizes on a call.
struct SizeTrial {
  std::vector<DynamicDims> results;  ///< dynamic dimensions of each tensor in what it returned
  bool fixed = false;                ///< specialised: it works with the traced sizes only
};

/// Runs the call on stand-ins for its tensors, once as it was and once with larger dynamic
/// dimensions. `dynamic` has those of each of the arguments' tensors; for a mask in an index,
/// whether the number of elements it selects is dynamic. Takes no lock; where zeros do not tell,
/// operators written in Python may run.
SizeTrial try_other_sizes(const c10::OperatorHandle& op, const torch::jit::Stack& arguments,
                          const std::vector<DynamicDims>& dynamic,
                          const torch::jit::Stack& results);

}  // namespace leapp::trace
