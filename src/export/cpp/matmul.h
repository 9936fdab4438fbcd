// Products of matrices.
#pragma once

#include "export/cpp/op_context.h"

namespace leapp::cpp_export {

/// Returns a [.., M, K] times b [.., K, N], of one type; leading dimensions broadcast.
Value product(Program& program, const Value& a, const Value& b);

/// x W^T + b. Some rows of the parameters only: of W and b, from `begin` on.
struct Rows {
  std::int64_t begin = 0;
  std::int64_t count = -1;  ///< all
};
Value linear(OpContext& context, const Value& x, const char* weight, const char* bias,
             Rows rows = {});

}  // namespace leapp::cpp_export
