// as_strided() in terms of values.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace leapp::trace {

/// as_strided() addresses memory, a pure graph has values only: the positions, among the elements
/// of `self` in logical order, of what `as_strided(self, sizes, strides, offset)` reads, as int64
/// of one dimension. Throws Error(kExport) where it reads memory between or beyond those elements.
at::Tensor logical_positions(const at::Tensor& self, at::IntArrayRef sizes, at::IntArrayRef strides,
                             std::int64_t offset);

}  // namespace leapp::trace
