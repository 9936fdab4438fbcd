// Values of a tape that depend on no input of a node.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include "trace/tape.h"

namespace leapp::trace {

/// Returns whether the operator takes a tensor for its shape and type only, as zeros_like() does.
bool makes_constant(const c10::OperatorHandle& op);

/// Returns whether a variable is a tensor from outside, or made of no node's values.
bool is_constant(const Tape& tape, VarId var);

/// Computes a constant of the tape again; undefined where that is not worth the effort.
at::Tensor evaluate(const Tape& tape, VarId var);

/// Returns whether both are defined and have the same type and shape.
bool same_type(const at::Tensor& a, const at::Tensor& b);
/// Returns whether both have the same type and shape and hold the same values, NaN included. It is
/// the only comparison of recorded tensors.
bool same_value(const at::Tensor& a, const at::Tensor& b);

}  // namespace leapp::trace
