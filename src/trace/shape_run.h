// Inferring the shapes of results without computing them.
//
// A graph is built by running its operators, but all it keeps of a result that depends on an input
// is its type. Convolutions and matrix products take nearly all of the time, so large ones
// are run on meta tensors.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace leapp::trace {

/// Whether this very call is a convolution or matrix product that takes its time.
bool is_large_product(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

/// Replaces the arguments on the stack by placeholders for the results: of their type, shape,
/// strides and device, with zeros as elements.
void run_on_shapes(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace leapp::trace
