// The tensor in front of a reshape, on which operators can run instead, to avoid reshapes.
//
// A layer over [batch, time, features] is a Gemm over [batch * time, features] between two
// reshapes. A following activation, residual sum or norm has the same meaning on the matrix. If it
// runs there, the next layer's reshape cancels the previous one, and both disappear.
#pragma once

#include "export/onnx/value.h"

namespace leapp::onnx_export {

/// Returns the tensor of which `x` is a reshape; undefined if it is not a reshape.
Value before_reshape(Value x);

/// Returns the matrix whose rows are the last dimension of `x`, if `x` is a reshape of one.
Value rows_of(Value x);

/// Returns `x` in a form that broadcasts over the rows as it does over their reshape to `shape`;
/// undefined if this is impossible.
Value beside_rows(Value x, const Shape& shape, Value rows);

/// Returns the last step of a recurrent operator's output, from the operator's own output for it;
/// undefined for any other `index` along `dim`.
Value last_step(Value x, std::int64_t dim, std::int64_t index);

}  // namespace leapp::onnx_export
