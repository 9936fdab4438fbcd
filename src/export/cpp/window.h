// Sliding windows over the last dimensions of a tensor [N, C, ..].
#pragma once

#include "export/cpp/op_context.h"

namespace leapp::cpp_export {

/// Geometry of sliding windows, with one number per dimension.
struct Windows {
  std::vector<std::int64_t> size;
  std::vector<std::int64_t> stride;
  std::vector<std::int64_t> padding;
  std::vector<std::int64_t> dilation;
};

/// Returns `count` numbers: a single number is repeated, an empty list becomes `if_none`.
std::vector<std::int64_t> per_dimension(std::vector<std::int64_t> numbers, std::size_t count,
                                        std::int64_t if_none);

/// Returns x [N, C, D..] as [N, C, out.., size..]: the elements of the window at each position.
/// Positions outside read `filler`.
Value windowed(Program& program, const Value& x, const Windows& windows,
               const std::vector<std::int64_t>& out, const Value& filler);

}  // namespace leapp::cpp_export
