// Which products are large, and what inferring a shape leaves on the stack.
#include "trace/shape_run.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "tape_writer.h"

namespace leapp::trace {
namespace {

using testing::find_op;

TEST(ShapeRunTest, LargeProducts) {
  const at::Tensor small = at::ones({8, 8});
  const at::Tensor large = at::ones({256, 256});
  const struct {
    const char* name;
    torch::jit::Stack stack;
    bool large;
  } table[] = {
      {"aten::mm", {small, small}, false},
      {"aten::mm", {large, large}, true},
      {"aten::linear", {large, large, at::Tensor()}, true},
      {"aten::mm", {large.to_sparse(), large}, false},
      {"aten::relu", {large}, false},
  };
  for (const auto& line : table) {
    EXPECT_EQ(is_large_product(find_op(line.name, ""), line.stack), line.large)
        << line.name << " of " << line.stack.front().toTensor().sizes();
  }
}

TEST(ShapeRunTest, ResultsArePlaceholdersOfTheRightType) {
  torch::jit::Stack stack = {at::ones({2, 3}), at::ones({3, 5})};
  run_on_shapes(find_op("aten::mm", ""), &stack);
  ASSERT_EQ(stack.size(), 1U);
  const at::Tensor& result = stack.front().toTensor();
  EXPECT_EQ(result.sizes(), (std::vector<std::int64_t>{2, 5}));
  EXPECT_TRUE(result.is_cpu());
  EXPECT_EQ(result.count_nonzero().item<std::int64_t>(), 0);
}

TEST(ShapeRunTest, WhatIsBelowTheArgumentsStays) {
  torch::jit::Stack stack = {at::ones({7}), at::ones({2, 3}), at::ones({3, 5})};
  run_on_shapes(find_op("aten::mm", ""), &stack);
  ASSERT_EQ(stack.size(), 2U);
  EXPECT_EQ(stack.front().toTensor().sum().item<float>(), 7);
}

}  // namespace
}  // namespace leapp::trace
