// Which tensor a reshaped one came from, so that work can be done there and fewer reshapes stay.
//
// A layer over [batch, time, features] is a Gemm over [batch * time, features] between two
// reshapes. What follows it, an activation, a residual sum, a norm, means the same on the matrix;
// done there, the next layer's reshape undoes the former and both go away.
#pragma once

#include "export/onnx/value.h"

namespace leapp::onnx_export {

/// Returns the tensor that `x` is a reshape of; undefined if it is not a reshape.
Value before_reshape(Value x);

/// Returns the matrix whose rows are the last dimension of `x`, when `x` is a reshape of one.
Value rows_of(Value x);

/// Returns `x` such that it broadcasts over the rows as it does over their reshape to `shape`;
/// undefined if this is impossible.
Value beside_rows(Value x, const Shape& shape, Value rows);

/// Returns the last step of a recurrent operator's output, taken from where the operator puts it
/// anyway; undefined when `index` along `dim` is anything else.
Value last_step(Value x, std::int64_t dim, std::int64_t index);

}  // namespace leapp::onnx_export
