// Advanced indexing for reading (indexing.cpp) and writing (scatter.cpp).
#pragma once

#include <vector>

#include "export/onnx/op_context.h"

namespace leapp::onnx_export {

/// Indices as int64, negative ones counted from the end of a dimension of that size.
Value positive_index(Value index, std::int64_t size);

/// Indices (undefined ones are ":") clamped to their dimension of x.
std::vector<Value> held_inside(Value x, const std::vector<Value>& indices);

/// The decomposition of x[i, :, j]: the indexed dimensions merged into one, and its position.
struct Indexed {
  Value base;         ///< x with its indexed dimensions merged into one
  Value index;        ///< position along that dimension, in the common shape of the indices
  std::int64_t dim;   ///< the merged dimension of `base`
  Dims order;         ///< permutation that was applied to x before merging; empty for none
  Shape moved_shape;  ///< shape of x after the permutation
};

/// Converts `indices` (undefined ones are ":"). Masks must be constants, because the result's size
/// depends on them.
Indexed resolve_index(OpContext& context, Value x, const std::vector<Value>& indices);

}  // namespace leapp::onnx_export
