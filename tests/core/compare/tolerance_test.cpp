#include "leapp/tolerance.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace leapp {
namespace {

TEST(ToleranceTest, HalfPrecisionHasItsOwnUnlessOneWasAskedFor) {
  const Tolerance wanted;
  EXPECT_EQ(tolerance_for(DType::kFloat32, wanted), wanted);
  EXPECT_GT(tolerance_for(DType::kFloat16, wanted).rtol, wanted.rtol);
  EXPECT_GT(tolerance_for(DType::kBFloat16, wanted).rtol,
            tolerance_for(DType::kFloat16, wanted).rtol);
  EXPECT_EQ(tolerance_for(DType::kFloat16, kReplayed), kReplayed);
}

TEST(ToleranceTest, AnOutputOfLessPrecisionHasItsOwn) {
  const std::array precisions = {DType::kFloat16, DType::kFloat32};
  const Tolerance wanted;
  EXPECT_GT(tolerance_for(precisions, 0, wanted).rtol, wanted.rtol);
  EXPECT_EQ(tolerance_for(precisions, 1, wanted), wanted);
  EXPECT_EQ(tolerance_for(precisions, 2, wanted), wanted);  // no known precision
}

TEST(ToleranceTest, OnlyRoundedNumbersMayDiffer) {
  EXPECT_EQ(exact_unless_rounded(DType::kFloat32, kReordered), kReordered);
  EXPECT_EQ(exact_unless_rounded(DType::kComplex64, kReordered), kReordered);
  EXPECT_EQ(exact_unless_rounded(DType::kInt64, kReordered), kExact);
  EXPECT_EQ(exact_unless_rounded(DType::kBool, kReordered), kExact);
}

TEST(ToleranceTest, IsRelativeToTheExpectedNumber) {
  EXPECT_TRUE(is_close(1010, 1000, {0.01, 0}));
  EXPECT_FALSE(is_close(1000, 985, {0.01, 0}));
  EXPECT_TRUE(is_close(0.5, 0, {0, 0.5}));
  EXPECT_FALSE(is_close(std::nan(""), std::nan(""), {1, 1}));
}

TEST(ToleranceTest, IsShownAsItsNumbers) {
  EXPECT_EQ(to_string(Tolerance{}), "rtol=0.001, atol=1e-05");
}

}  // namespace
}  // namespace leapp
