// Inferring the shapes of results without computing them.
//
// A graph is built by running its operators, but all it keeps of a result that depends on an input
// is its type. Convolutions and matrix products take nearly all of the time, so large ones are run
// on a part of their arguments that costs next to nothing and tells the shape of the whole. PyTorch
// would tell it too, from meta tensors, but by kernels in Python, which import for a second or two.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace leapp::trace {

/// Returns whether this call is an expensive convolution or matrix product.
bool is_large_product(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

/// Replaces the arguments of a large product on the stack by a placeholder for its result: of its
/// type, shape and device, with zeros as elements.
void run_on_shapes(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace leapp::trace
