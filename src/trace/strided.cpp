#include "trace/strided.h"

#include <ATen/ops/tensor.h>

#include <unordered_map>

#include "base/check.h"

namespace leapp::trace {
namespace {

// Calls `visit(offset)` for each element of a tensor with these strides, in logical order.
template <typename Visit>
void for_each_offset(at::IntArrayRef sizes, at::IntArrayRef strides, std::int64_t start,
                     Visit&& visit) {
  std::vector<std::int64_t> at(sizes.size(), 0);
  const std::int64_t count = c10::multiply_integers(sizes);
  std::int64_t offset = start;
  for (std::int64_t i = 0; i < count; ++i) {
    visit(offset);
    for (std::size_t d = sizes.size(); d-- > 0;) {
      offset += strides[d];
      if (++at[d] < sizes[d]) break;
      offset -= strides[d] * sizes[d];
      at[d] = 0;
    }
  }
}

}  // namespace

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
            "as_strided() reads memory beyond the elements of its tensor, which the exported model "
            "does not have. Index the whole tensor instead");
    positions.push_back(it->second);
  });
  return at::tensor(positions, at::kLong);
}

}  // namespace leapp::trace
