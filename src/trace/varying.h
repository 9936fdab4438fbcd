// Sizes that the values of a tensor decide: which they are, found by trying others.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace leapp::trace {

/// The dimensions of a tensor whose sizes depend on values, a bit for each.
using Varying = std::uint64_t;

/// Tensors of a call's arguments or results in order, those in lists included. Absent ones count.
std::vector<at::Tensor> tensors_in(const c10::IValue* values, std::size_t count);

/// What varies in each of the arguments' tensors, for try_other_sizes(); empty when nothing does.
/// `known` says what varies in a tensor already, `is_traced` whether its values may be others.
std::vector<Varying> varying_arguments(const c10::OperatorHandle& op,
                                       const torch::jit::Stack& arguments,
                                       const std::function<Varying(const at::Tensor&)>& known,
                                       const std::function<bool(const at::Tensor&)>& is_traced);

/// What other sizes of its arguments do to a call.
struct SizeTrial {
  std::vector<Varying> results;  ///< for each tensor of tensors_in() of what it returned
  bool fixed = false;            ///< it only works with the sizes of now: one is written in it
};

/// Runs the call on shapes alone, once as it was and once with larger varying dimensions.
/// `varying` says of each of the arguments' tensors what varies; of a mask in an index, whether the
/// number of elements it selects does. Takes no lock; operators written in Python may run.
SizeTrial try_other_sizes(const c10::OperatorHandle& op, const torch::jit::Stack& arguments,
                          const std::vector<Varying>& varying, const torch::jit::Stack& results);

}  // namespace leapp::trace
