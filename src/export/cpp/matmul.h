// Products of matrices.
#pragma once

#include "export/cpp/op_context.h"

namespace leapp::cpp_export {

/// Returns the product of a [.., M, K] and b [.., K, N] with the same type; leading dimensions
/// broadcast.
Value product(Program& program, const Value& a, const Value& b);

/// Computes x W^T + b with only some rows of W and b, from `begin` on.
struct Rows {
  std::int64_t begin = 0;
  std::int64_t count = -1;  ///< all
};
Value linear(OpContext& context, const Value& x, const char* weight, const char* bias,
             Rows rows = {});

}  // namespace leapp::cpp_export
