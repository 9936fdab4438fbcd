// Tests of recognising large products, and of the stack after inferring a shape.
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

TEST(ShapeRunTest, ThePlaceholderHasTheShapeOfTheWhole) {
  using Ints = std::vector<std::int64_t>;
  const c10::IValue none;
  const auto ones = [](Ints sizes) { return c10::IValue(at::ones(sizes)); };
  const struct {
    const char* name;
    torch::jit::Stack stack;
  } table[] = {
      {"aten::mm", {ones({2, 3}), ones({3, 5})}},
      {"aten::bmm", {ones({4, 2, 3}), ones({4, 3, 5})}},
      {"aten::addmm", {ones({5}), ones({2, 3}), ones({3, 5}), 1, 1}},
      {"aten::baddbmm", {ones({4, 2, 5}), ones({4, 2, 3}), ones({4, 3, 5}), 1, 1}},
      {"aten::linear", {ones({7, 2, 3}), ones({5, 3}), ones({5})}},
      {"aten::linear", {ones({3}), ones({3}), none}},
      {"aten::matmul", {ones({3}), ones({3})}},
      {"aten::matmul", {ones({3}), ones({4, 3, 5})}},
      {"aten::matmul", {ones({4, 1, 2, 3}), ones({6, 3, 5})}},
      {"aten::conv1d", {ones({2, 4, 9}), ones({6, 4, 3}), ones({6}), Ints{2}, Ints{1}, Ints{1}, 1}},
      {"aten::conv2d",
       {ones({4, 9, 8}), ones({8, 1, 3, 3}), none, Ints{1, 2}, Ints{1, 0}, Ints{2, 1}, 4}},
      {"aten::conv3d",
       {ones({0, 1, 4, 4, 4}), ones({2, 1, 2, 2, 2}), none, Ints{1}, Ints{0}, Ints{1}, 1}},
      {"aten::convolution",
       {ones({2, 4, 5, 5}), ones({4, 3, 3, 3}), ones({6}), Ints{2, 2}, Ints{1, 1}, Ints{1, 1}, true,
        Ints{1, 0}, 2}},
  };
  for (const auto& line : table) {
    const c10::OperatorHandle op = find_op(line.name, "");
    torch::jit::Stack whole = line.stack;
    op.callBoxed(&whole);
    torch::jit::Stack placeholder = line.stack;
    run_on_shapes(op, &placeholder);
    ASSERT_EQ(placeholder.size(), 1U) << line.name;
    EXPECT_EQ(placeholder.front().toTensor().sizes(), whole.front().toTensor().sizes())
        << line.name << " of " << line.stack.front().toTensor().sizes();
  }
}

TEST(ShapeRunTest, WhatIsBelowTheArgumentsStays) {
  torch::jit::Stack stack = {at::ones({7}), at::ones({2, 3}), at::ones({3, 5})};
  run_on_shapes(find_op("aten::mm", ""), &stack);
  ASSERT_EQ(stack.size(), 2U);
  EXPECT_EQ(stack.front().toTensor().sum().item<float>(), 7);
}

}  // namespace
}  // namespace leapp::trace
