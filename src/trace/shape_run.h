// Inferring the shapes of results without computing them.
//
// A graph is built by running its operators, but it keeps only the type of a result that depends on
// an input. Convolutions and matrix products take most of the time, so large ones run on a small
// part of their arguments, which is sufficient to infer the shape. PyTorch's meta tensors would do
// the same, but with kernels in Python whose imports take a second or two.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace leapp::trace {

/// Returns whether this call is an expensive convolution or matrix product.
bool is_large_product(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

/// Replaces the arguments of a large product on the stack by a placeholder for its result: zeros
/// with its type, shape and device.
void run_on_shapes(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace leapp::trace
