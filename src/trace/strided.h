// Expresses as_strided() by values.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace leapp::trace {

/// The elements that a slice selects in one dimension.
struct Range {
  std::int64_t begin = 0;
  std::int64_t count = 1;
  std::int64_t step = 1;

  std::int64_t end() const noexcept { return begin + (count - 1) * step + 1; }
};

/// Returns the slices of `self`, one for each of its dimensions, that have the elements of
/// `as_strided(self, sizes, strides, offset)` in its order; nullopt if there are no such slices.
std::optional<std::vector<Range>> slices_of(const at::Tensor& self, at::IntArrayRef sizes,
                                            at::IntArrayRef strides, std::int64_t offset);

/// Returns the positions, among the elements of `self` in logical order, that `as_strided(self,
/// sizes, strides, offset)` reads, as one-dimensional int64, because a pure graph has values but no
/// memory. Throws Error(kExport) if it reads memory between or beyond those elements.
at::Tensor logical_positions(const at::Tensor& self, at::IntArrayRef sizes, at::IntArrayRef strides,
                             std::int64_t offset);

}  // namespace leapp::trace
