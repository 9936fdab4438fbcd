// as_strided() in terms of values.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace leapp::trace {

/// The elements of one dimension that a slice takes.
struct Range {
  std::int64_t begin = 0;
  std::int64_t count = 1;
  std::int64_t step = 1;

  std::int64_t end() const noexcept { return begin + (count - 1) * step + 1; }
};

/// Returns the slices of `self`, one for each of its dimensions, that have the elements of
/// `as_strided(self, sizes, strides, offset)` in its order; nullopt where no slices have.
std::optional<std::vector<Range>> slices_of(const at::Tensor& self, at::IntArrayRef sizes,
                                            at::IntArrayRef strides, std::int64_t offset);

/// as_strided() addresses memory, a pure graph has values only: the positions, among the elements
/// of `self` in logical order, of what `as_strided(self, sizes, strides, offset)` reads, as int64
/// of one dimension. Throws Error(kExport) where it reads memory between or beyond those elements.
at::Tensor logical_positions(const at::Tensor& self, at::IntArrayRef sizes, at::IntArrayRef strides,
                             std::int64_t offset);

}  // namespace leapp::trace
