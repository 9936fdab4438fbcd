#include "trace/dynamic_dims.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace leapp::trace {
namespace {

SizeTrial trial(const char* name, const char* overload, const torch::jit::Stack& arguments,
                const std::vector<DynamicDims>& dynamic) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
  torch::jit::Stack results = arguments;
  op.callBoxed(&results);
  return try_other_sizes(op, arguments, dynamic, results);
}

c10::IValue sizes(std::vector<std::int64_t> values) {
  return c10::IValue(std::move(values));
}

TEST(DynamicDimsTest, AMaskMakesTheDimensionVaryWhereItStands) {
  const at::Tensor mask = at::ones({3}, at::kBool);
  const c10::List<std::optional<at::Tensor>> indices({std::nullopt, mask});
  const SizeTrial found =
      trial("aten::index", "Tensor", {at::zeros({2, 3, 4}), indices}, {0, 0, 1});
  EXPECT_EQ(found.results, (std::vector<DynamicDims>{0b010}));
  EXPECT_FALSE(found.fixed);
}

TEST(DynamicDimsTest, ASumOverItVariesNoMore) {
  const SizeTrial found =
      trial("aten::sum", "dim_IntList", {at::zeros({2, 3}), sizes({0}), false, c10::IValue()}, {1});
  EXPECT_EQ(found.results, (std::vector<DynamicDims>{0}));
}

TEST(DynamicDimsTest, ASizeThatIsWrittenDownIsFixed) {
  EXPECT_TRUE(trial("aten::reshape", "", {at::zeros({2, 3}), sizes({2, 3})}, {1}).fixed);
  EXPECT_TRUE(trial("aten::unbind", "int", {at::zeros({2, 3}), 0}, {1}).fixed);
}

TEST(DynamicDimsTest, AProductOfSizesIsTakenApartAgain) {
  for (const std::int64_t rows : {0, 1, 2}) {
    const SizeTrial found =
        trial("aten::reshape", "", {at::zeros({rows * 3}), sizes({-1, 3})}, {1});
    EXPECT_FALSE(found.fixed) << rows;
    EXPECT_EQ(found.results, (std::vector<DynamicDims>{1})) << rows;
  }
}

TEST(DynamicDimsTest, ABincountWithinItsMinimumHasThatSize) {
  const at::Tensor numbers = at::ones({4}, at::kLong);
  EXPECT_EQ(trial("aten::bincount", "", {numbers, at::Tensor(), 3}, {1, 0}).results.front(), 0U);
  EXPECT_EQ(trial("aten::bincount", "", {numbers, at::Tensor(), 0}, {1, 0}).results.front(), 1U);
}

TEST(DynamicDimsTest, OnlyTheMaskDecidesWhatIsSelected) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::masked_select", "");
  const at::Tensor x = at::zeros({3});
  const at::Tensor mask = at::ones({3}, at::kBool);
  const auto nothing = [](const at::Tensor&) { return DynamicDims{0}; };
  EXPECT_TRUE(dynamic_dims_of_arguments(op, {x, mask}, nothing, [&](const at::Tensor& tensor) {
                return tensor.is_same(x);
              }).empty());
  EXPECT_FALSE(dynamic_dims_of_arguments(op, {x, mask}, nothing, [&](const at::Tensor& tensor) {
                 return tensor.is_same(mask);
               }).empty());
}

}  // namespace
}  // namespace leapp::trace
