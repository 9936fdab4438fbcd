// Products of matrices.
#pragma once

#include "export/cpp/op_context.h"

namespace leapp::cpp_export {

/// a [.., M, K] times b [.., K, N], of one type; dimensions in front broadcast.
Value product(Program& program, const Value& a, const Value& b);

}  // namespace leapp::cpp_export
