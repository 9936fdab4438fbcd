#include "compile/varied_example.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace leapp::compile {
namespace {

TEST(VariedExampleTest, IsTheExampleInTheFirstPass) {
  const at::Tensor example = at::randn({2, 3});
  const at::Tensor first = varied_example(example, 0, 0);
  EXPECT_TRUE(at::equal(first, example));
  EXPECT_NE(first.const_data_ptr(), example.const_data_ptr());
}

TEST(VariedExampleTest, VariesFloatingPointElementsTheSameWayEachTime) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf}) {
    const at::Tensor example = at::full({64}, 20, type);
    const at::Tensor varied = varied_example(example, 1, 0);
    EXPECT_EQ(varied.scalar_type(), type);
    EXPECT_TRUE(varied.ne(example).any().item<bool>());
    EXPECT_LT(varied.sub(example).abs().max().item<double>(), 20);
    EXPECT_TRUE(at::equal(varied, varied_example(example, 1, 0)));
    EXPECT_FALSE(at::equal(varied, varied_example(example, 2, 0)));
    EXPECT_FALSE(at::equal(varied, varied_example(example, 1, 1)));
  }
}

TEST(VariedExampleTest, VariesZerosButNeitherIntegersNorBools) {
  EXPECT_TRUE(varied_example(at::zeros({8}), 1, 0).ne(0).any().item<bool>());
  for (const at::ScalarType type : {at::kLong, at::kBool}) {
    const at::Tensor example = at::ones({8}, type);
    EXPECT_TRUE(at::equal(varied_example(example, 1, 0), example));
  }
}

TEST(VariedExampleTest, TakesNoNumbersFromTheProgram) {
  at::manual_seed(1);
  const at::Tensor expected = at::randn({4});
  at::manual_seed(1);
  varied_example(at::zeros({4}), 1, 0);
  EXPECT_TRUE(at::equal(at::randn({4}), expected));
}

TEST(VariedExampleTest, TakesInfinitiesAndNothing) {
  EXPECT_EQ(varied_example(at::empty({0}), 1, 0).numel(), 0);
  const at::Tensor infinite = at::full({2}, INFINITY);
  EXPECT_TRUE(at::equal(varied_example(infinite, 1, 0), infinite));
}

}  // namespace
}  // namespace leapp::compile
