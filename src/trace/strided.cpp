#include "trace/strided.h"

#include <ATen/ops/tensor.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/check.h"
#include "trace/geometry.h"

namespace leapp::trace {
namespace {

// Returns the index in each dimension of the element at a distance from the first one.
std::optional<std::vector<Range>> element_at(const at::Tensor& self, std::int64_t distance) {
  std::vector<std::int64_t> outermost_first(static_cast<std::size_t>(self.dim()));
  std::iota(outermost_first.begin(), outermost_first.end(), 0);
  std::ranges::stable_sort(outermost_first, std::greater<>(),
                           [&](std::int64_t d) { return self.stride(d); });
  std::vector<Range> element(outermost_first.size());
  for (const std::int64_t d : outermost_first) {
    if (self.size(d) == 1) continue;
    element[static_cast<std::size_t>(d)].begin = distance / self.stride(d);
    distance %= self.stride(d);
  }
  if (distance != 0) return std::nullopt;
  return element;
}

}  // namespace

std::optional<std::vector<Range>> slices_of(const at::Tensor& self, at::IntArrayRef sizes,
                                            at::IntArrayRef strides, std::int64_t offset) {
  const std::int64_t distance = offset - self.storage_offset();
  const bool empty = self.numel() == 0 || c10::multiply_integers(sizes) == 0;
  if (empty || distance < 0 || !self.is_non_overlapping_and_dense()) return std::nullopt;
  std::optional<std::vector<Range>> ranges = element_at(self, distance);
  if (!ranges) return std::nullopt;
  std::int64_t d = 0;  // dimensions of the result are those of the tensor, in order
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    const auto is_along = [&](std::int64_t dim) {
      return self.size(dim) > 1 && strides[i] >= self.stride(dim) &&
             strides[i] % self.stride(dim) == 0;
    };
    while (d < self.dim() && !is_along(d)) ++d;
    if (d == self.dim()) return std::nullopt;
    Range& range = (*ranges)[static_cast<std::size_t>(d)];
    range = {range.begin, sizes[i], strides[i] / self.stride(d)};
    ++d;
  }
  for (d = 0; d < self.dim(); ++d) {
    if ((*ranges)[static_cast<std::size_t>(d)].end() > self.size(d)) return std::nullopt;
  }
  return ranges;
}

at::Tensor logical_positions(const at::Tensor& self, at::IntArrayRef sizes, at::IntArrayRef strides,
                             std::int64_t offset) {
  std::unordered_map<std::int64_t, std::int64_t> known;
  std::int64_t next = 0;
  for_each_offset(self.sizes(), self.strides(), self.storage_offset(),
                  [&](std::int64_t at) { known[at] = next++; });
  std::vector<std::int64_t> positions;
  for_each_offset(sizes, strides, offset, [&](std::int64_t at) {
    const auto it = known.find(at);
    require(it != known.end(), Code::kNotPure,
            "as_strided() reads memory outside the elements of its tensor, which the exported "
            "model does not have. Index the whole tensor instead");
    positions.push_back(it->second);
  });
  return at::tensor(positions, at::kLong);
}

}  // namespace leapp::trace
