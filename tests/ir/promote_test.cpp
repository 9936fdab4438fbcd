#include "ir/promote.h"

#include <gtest/gtest.h>

#include <array>

namespace leapp::ir {
namespace {

using enum DType;

DType of(PromotionOperand a, PromotionOperand b) {
  return result_type(std::array{a, b});
}

constexpr auto kTensor = OperandKind::kTensor;
constexpr auto kZeroDim = OperandKind::kZeroDim;
constexpr auto kNumber = OperandKind::kNumber;

TEST(Promote, TypesMeetAsInTorch) {
  EXPECT_EQ(promote_types(kUInt8, kInt8), kInt16);
  EXPECT_EQ(promote_types(kInt16, kUInt8), kInt16);
  EXPECT_EQ(promote_types(kBool, kUInt8), kUInt8);
  EXPECT_EQ(promote_types(kInt64, kFloat16), kFloat16);
  EXPECT_EQ(promote_types(kFloat16, kBFloat16), kFloat32);
  EXPECT_EQ(promote_types(kFloat64, kComplex64), kComplex128);
}

TEST(Promote, DimensionsOutweighNumbersOfTheSameCategory) {
  EXPECT_EQ(of({kFloat32, kTensor}, {kFloat64, kZeroDim}), kFloat32);
  EXPECT_EQ(of({kInt8, kTensor}, {kInt64, kNumber}), kInt8);
  EXPECT_EQ(of({kFloat32, kZeroDim}, {kFloat64, kNumber}), kFloat32);
}

TEST(Promote, AHigherCategoryWins) {
  EXPECT_EQ(of({kInt64, kTensor}, {kFloat64, kNumber}), kFloat32);
  EXPECT_EQ(of({kInt64, kTensor}, {kFloat64, kZeroDim}), kFloat64);
  EXPECT_EQ(of({kBool, kTensor}, {kInt64, kNumber}), kInt64);
  EXPECT_EQ(of({kFloat64, kTensor}, {kComplex128, kNumber}), kComplex128);
}

}  // namespace
}  // namespace leapp::ir
