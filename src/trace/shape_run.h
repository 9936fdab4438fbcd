// Running an operator on shapes alone.
//
// A graph is built by running its operators, but all it keeps of a result that depends on an input
// is its type. Convolutions and matrix products take nearly all of the time, so large ones are
// only asked for the shape of their results.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace leapp::trace {

/// Whether this very call is a convolution or matrix product that takes its time.
bool is_large_product(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

/// Replaces the arguments on the stack by results of the right type, shape, strides and device.
/// Their elements are zero.
void run_on_shapes(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace leapp::trace
