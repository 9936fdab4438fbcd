#include "trace/index_expression.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace leapp::trace {
namespace {

using enum IndexItem;
using Dims = std::optional<std::vector<std::int64_t>>;

TEST(IndexExpressionTest, FindsTheDimensionsOfTracedNumbers) {
  const struct {
    const char* text;
    std::vector<IndexItem> items;
    Dims dims;
  } table[] = {
      {"[i]", {kTraced}, {{0}}},
      {"[i, j]", {kTraced, kTraced}, {{0, 1}}},
      {"[:, i]", {kSlice, kTraced}, {{1}}},
      {"[2, i]", {kNumber, kTraced}, {{0}}},
      {"[None, i]", {kNewAxis, kTraced}, {{1}}},
      {"[..., i]", {kEllipsis, kTraced}, {{3}}},
      {"[i, ..., j]", {kTraced, kEllipsis, kTraced}, {{0, 3}}},
      {"[None, ..., 0, i]", {kNewAxis, kEllipsis, kNumber, kTraced}, {{3}}},
      {"[:, 2]", {kSlice, kNumber}, std::nullopt},
      {"[i, mask]", {kTraced, kOther}, std::nullopt},
      {"[()]", {}, std::nullopt},
  };
  for (const auto& line : table) EXPECT_EQ(traced_dims(line.items, 4), line.dims) << line.text;
}

TEST(IndexExpressionTest, AssignsLikePlainIndexing) {
  const at::Tensor table = at::zeros({2, 3, 4});
  const at::Tensor plain = at::zeros({2, 3, 4});
  const at::Tensor value = at::arange(4, at::kLong);
  index_assign(table, {1}, {at::scalar_tensor(-1, at::kLong)}, value);
  plain.select(1, 2).copy_(value);
  EXPECT_TRUE(at::equal(table, plain));
}

}  // namespace
}  // namespace leapp::trace
