// Values of a tape that depend on no node input.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include "trace/tape.h"

namespace leapp::trace {

/// Returns whether the operator uses a tensor only for its shape and type, as zeros_like() does.
bool makes_constant(const c10::OperatorHandle& op);

/// Returns whether a variable is an external tensor, or computed without any node's values.
bool is_constant(const Tape& tape, VarId var);

/// Computes a constant of the tape again; undefined if that would be too expensive.
at::Tensor evaluate(const Tape& tape, VarId var);

/// Returns whether both are defined and have the same type and shape.
bool same_type(const at::Tensor& a, const at::Tensor& b);
/// Returns whether both have the same type, shape and values; NaN equals NaN. All comparisons of
/// recorded tensors use it.
bool same_value(const at::Tensor& a, const at::Tensor& b);

}  // namespace leapp::trace
