// Tests of the elements that as_strided() reads, in the tensor's own order.
#include "trace/strided.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include "leapp/error.h"

namespace leapp::trace {
namespace {

TEST(StridedTest, PositionsAreThoseOfAsStrided) {
  const at::Tensor rows = at::arange(12).view({3, 4});
  const struct {
    const char* self;
    at::Tensor tensor;
    std::vector<std::int64_t> sizes, strides;
    std::int64_t offset;
  } table[] = {
      {"all", rows, {3, 4}, {4, 1}, 0},
      {"a diagonal", rows, {3}, {5}, 0},
      {"from an offset", rows, {2, 2}, {4, 1}, 5},
      {"overlapping windows", rows, {3, 2}, {1, 1}, 0},
      {"of a transposed tensor", rows.t(), {2, 3}, {1, 4}, 1},
      {"of a slice", rows.slice(0, 1), {2}, {4}, 4},
      {"nothing", rows, {0}, {1}, 0},
  };
  for (const auto& line : table) {
    const at::Tensor positions =
        logical_positions(line.tensor, line.sizes, line.strides, line.offset);
    const at::Tensor read = line.tensor.reshape({-1}).index_select(0, positions);
    const at::Tensor wanted = at::as_strided(line.tensor, line.sizes, line.strides, line.offset);
    EXPECT_TRUE(at::equal(read, wanted.reshape({-1}))) << line.self;
  }
}

at::Tensor slice(const at::Tensor& tensor, const std::vector<Range>& ranges) {
  at::Tensor part = tensor;
  for (std::int64_t d = 0; d < tensor.dim(); ++d) {
    const Range& range = ranges[static_cast<std::size_t>(d)];
    part = part.slice(d, range.begin, range.end(), range.step);
  }
  return part;
}

TEST(StridedTest, SlicesHaveTheElementsOfAsStrided) {
  const at::Tensor rows = at::arange(12).view({3, 4});
  const struct {
    const char* what;
    at::Tensor self, view;
    bool found;
  } table[] = {
      {"all", rows, rows, true},
      {"columns", rows, rows.slice(1, 1, 3), true},
      {"every other column of the last rows", rows, rows.slice(0, 1).slice(1, 1, 4, 2), true},
      {"a row", rows, rows[1], true},
      {"a column", rows, rows.select(1, 2), true},
      {"an element", rows, rows[2][3], true},
      {"with dimensions of one", rows, rows.slice(1, 1, 2).unsqueeze(0), true},
      {"of a transposed tensor", rows.t(), rows.t().slice(0, 1, 3), true},
      {"of rows", rows.slice(0, 1), rows.slice(0, 2).slice(1, 0, 2), true},
      {"a diagonal, which no slices have", rows, rows.diagonal(), false},
      {"in another order", rows, rows.t(), false},
      {"expanded", rows, rows.slice(1, 0, 1).expand({3, 4}), false},
      {"flat", rows, rows.view({12}), false},
      {"before the tensor", rows.slice(0, 1), rows[0], false},
      {"nothing", rows, rows.slice(0, 3), false},
  };
  for (const auto& line : table) {
    const auto ranges =
        slices_of(line.self, line.view.sizes(), line.view.strides(), line.view.storage_offset());
    ASSERT_EQ(ranges.has_value(), line.found) << line.what;
    if (!ranges) continue;
    EXPECT_TRUE(at::equal(slice(line.self, *ranges).reshape(line.view.sizes()), line.view))
        << line.what;
  }
}

TEST(StridedTest, MemoryOutsideTheTensorIsRefused) {
  const at::Tensor slice = at::arange(12).slice(0, 4, 8);
  EXPECT_THROW(logical_positions(slice, {2}, {1}, 0), Error);
  EXPECT_THROW(logical_positions(slice, {2}, {4}, 4), Error);
}

}  // namespace
}  // namespace leapp::trace
