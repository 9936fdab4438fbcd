// The error bounds stated in kernels/exponential.h, for floats of every magnitude.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kernels {
#include "export/cpp/kernels/exponential.h"
}  // namespace kernels

namespace {

// Returns the error of `found` in units of the last place of the nearest float.
double units_off(float found, double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::abs(static_cast<double>(found) - exact) /
         std::ldexp(1.0, std::max(exponent - 24, -149));
}

template <typename Function, typename Exact>
double worst(Function function, Exact exact) {
  constexpr std::uint64_t kStep = 10007;  // prime: covers all exponents and many mantissas
  double worst = 0;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += kStep) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const float found = function(x);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(found));
      continue;
    }
    const double expected = exact(static_cast<double>(x));
    if (std::abs(expected) > static_cast<double>(std::numeric_limits<float>::max())) {
      EXPECT_EQ(found, static_cast<float>(expected)) << x;
      continue;
    }
    worst = std::max(worst, units_off(found, expected));
  }
  return worst;
}

TEST(Exponential, ExpIsWithinTwoUnits) {
  EXPECT_LT(worst(kernels::exp_of_float, [](double x) { return std::exp(x); }), 2);
}

TEST(Exponential, Expm1IsWithinTwoUnits) {
  EXPECT_LT(worst(kernels::expm1_of_float, [](double x) { return std::expm1(x); }), 2);
}

TEST(Exponential, TanhIsWithinTwoUnits) {
  EXPECT_LT(worst(kernels::tanh_of_float, [](double x) { return std::tanh(x); }), 2);
}

TEST(Exponential, ErfIsWithinTwoUnits) {
  EXPECT_LT(worst(kernels::erf_of_float, [](double x) { return std::erf(x); }), 2);
}

TEST(Exponential, SigmoidIsWithinThreeUnits) {
  const auto exact = [](double x) {
    return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
  };
  EXPECT_LT(worst(kernels::sigmoid_of_float, exact), 3);
}

TEST(Exponential, InfinitiesHaveTheirLimits) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  EXPECT_EQ(kernels::exp_of_float(kInfinite), kInfinite);
  EXPECT_EQ(kernels::exp_of_float(-kInfinite), 0.0F);
  EXPECT_EQ(kernels::expm1_of_float(kInfinite), kInfinite);
  EXPECT_EQ(kernels::expm1_of_float(-kInfinite), -1.0F);
  EXPECT_EQ(kernels::tanh_of_float(-kInfinite), -1.0F);
  EXPECT_EQ(kernels::erf_of_float(kInfinite), 1.0F);
  EXPECT_EQ(kernels::sigmoid_of_float(-kInfinite), 0.0F);
  EXPECT_EQ(kernels::sigmoid_of_float(kInfinite), 1.0F);
}

}  // namespace
