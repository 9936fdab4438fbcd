// Which elements as_strided() reads, in the tensor's own order.
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

TEST(StridedTest, MemoryOutsideTheTensorIsRefused) {
  const at::Tensor slice = at::arange(12).slice(0, 4, 8);
  EXPECT_THROW(logical_positions(slice, {2}, {1}, 0), Error);
  EXPECT_THROW(logical_positions(slice, {2}, {4}, 4), Error);
}

}  // namespace
}  // namespace leapp::trace
