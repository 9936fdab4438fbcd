#include "base/small_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace leapp {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

template <typename T>
class SmallFloatTest : public testing::Test {
 public:
  static constexpr int kPatterns = 1 << (1 + T::kExponentBits + T::kMantissaBits);
  static constexpr int kBias = (1 << (T::kExponentBits - 1)) - 1;

  static T at(int pattern) { return {static_cast<typename T::Bits>(pattern)}; }

  // Returns the value of a bit pattern by the definition of the format.
  static double value_of(int pattern) {
    const int mantissa = pattern & ((1 << T::kMantissaBits) - 1);
    const int exponent = (pattern >> T::kMantissaBits) & ((1 << T::kExponentBits) - 1);
    const bool negative = pattern >= kPatterns / 2;
    const int highest = (1 << T::kExponentBits) - 1;
    double size = 0;
    if (exponent == highest && T::kHasInfinity) {
      size = mantissa == 0 ? HUGE_VAL : std::nan("");
    } else if (exponent == highest && mantissa == (1 << T::kMantissaBits) - 1) {
      size = std::nan("");
    } else if (exponent == 0) {
      size = std::ldexp(mantissa, 1 - kBias - T::kMantissaBits);
    } else {
      size = std::ldexp((1 << T::kMantissaBits) + mantissa, exponent - kBias - T::kMantissaBits);
    }
    return negative ? -size : size;
  }
};

using Types = testing::Types<Half, BFloat16, Float8E4M3, Float8E5M2>;
TYPED_TEST_SUITE(SmallFloatTest, Types);

TYPED_TEST(SmallFloatTest, EveryPatternWidensToItsValueAndNarrowsToItself) {
  for (int pattern = 0; pattern < TestFixture::kPatterns; ++pattern) {
    const double expected = TestFixture::value_of(pattern);
    const float wide = widen(TestFixture::at(pattern));
    ASSERT_EQ(std::signbit(wide), pattern >= TestFixture::kPatterns / 2) << pattern;
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(wide)) << pattern;
      ASSERT_TRUE(std::isnan(widen(narrow<TypeParam>(wide)))) << pattern;
    } else {
      ASSERT_EQ(static_cast<double>(wide), expected) << pattern;
      ASSERT_EQ(narrow<TypeParam>(wide).bits, pattern);
    }
  }
}

TYPED_TEST(SmallFloatTest, BetweenTwoNumbersTheNearerIsTakenAndTheEvenOneOfEqualOnes) {
  for (int pattern = 0; pattern + 1 < TestFixture::kPatterns / 2; ++pattern) {
    const double below = TestFixture::value_of(pattern);
    const double above = TestFixture::value_of(pattern + 1);
    if (!std::isfinite(above)) break;
    const auto middle = static_cast<float>((below + above) / 2);
    const int even = pattern % 2 == 0 ? pattern : pattern + 1;
    ASSERT_EQ(narrow<TypeParam>(middle).bits, even);
    ASSERT_EQ(narrow<TypeParam>(std::nextafter(middle, 0.0F)).bits, pattern);
    ASSERT_EQ(narrow<TypeParam>(std::nextafter(middle, kInf)).bits, pattern + 1);
    ASSERT_EQ(widen(narrow<TypeParam>(-middle)), -widen(TestFixture::at(even)));
  }
}

TYPED_TEST(SmallFloatTest, WhatIsTooLargeIsInfiniteOrTheLargest) {
  const TypeParam infinite = narrow<TypeParam>(kInf);
  EXPECT_EQ(widen(infinite), TypeParam::kHasInfinity ? kInf : 448.0F);
  EXPECT_EQ(narrow<TypeParam>(std::numeric_limits<float>::max()).bits, infinite.bits);
  EXPECT_TRUE(std::isnan(widen(narrow<TypeParam>(std::nanf("")))));
}

// The bits that PyTorch computes.
TEST(SmallFloatBitsTest, BitsArePyTorchs) {
  EXPECT_EQ(narrow<Half>(0.1F).bits, 0x2E66);
  EXPECT_EQ(narrow<Half>(65520.0F).bits, 0x7C00);
  EXPECT_EQ(narrow<Half>(65519.0F).bits, 0x7BFF);
  EXPECT_EQ(narrow<BFloat16>(0.1F).bits, 0x3DCD);
  EXPECT_EQ(narrow<Float8E4M3>(0.1F).bits, 0x1D);
  EXPECT_EQ(narrow<Float8E4M3>(465.0F).bits, 0x7E);
  EXPECT_EQ(narrow<Float8E5M2>(0.1F).bits, 0x2E);
}

}  // namespace
}  // namespace leapp
