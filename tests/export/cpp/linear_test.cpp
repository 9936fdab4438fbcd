// Packed linear layers of many sizes, compared with sums of products in double.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

namespace kernels {
#include "export/cpp/kernels/linear.h"
}  // namespace kernels

namespace {

std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<float>(seed >> 8U) / static_cast<float>(1U << 24U) - 0.5F;
  }
  return values;
}

template <std::ptrdiff_t kRows, std::ptrdiff_t kOut, std::ptrdiff_t kIn>
void check(bool with_bias) {
  const auto weight = numbers(kOut * kIn, 1);
  const auto bias = numbers(kOut, 2);
  const auto x = numbers(kRows * kIn, 3);
  std::vector<float> y(kRows * kOut + 1, 7.0F);  // the last one belongs to the next row
  const auto layer = std::make_unique<kernels::Linear<float, kOut, kIn>>();
  layer->prepare(weight.data(), with_bias ? bias.data() : nullptr);
  layer->template run<kRows>(x.data(), y.data(), [](float value) { return 2.0F * value; });
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t n = 0; n < kOut; ++n) {
      double sum = with_bias ? static_cast<double>(bias[n]) : 0.0;
      for (std::size_t k = 0; k < kIn; ++k) {
        sum += static_cast<double>(weight[n * kIn + k]) * static_cast<double>(x[row * kIn + k]);
      }
      EXPECT_NEAR(static_cast<double>(y[row * kOut + n]), 2 * sum, 1e-5)
          << kRows << " rows, " << kOut << " x " << kIn << ", at " << row << ", " << n;
    }
  }
  EXPECT_EQ(y.back(), 7.0F);
}

// Weights with few bits: compared with the sums of products of their decoded values.
template <std::ptrdiff_t kRows, std::ptrdiff_t kOut, std::ptrdiff_t kIn, typename W>
void check_small() {
  std::vector<W> weight(kOut * kIn);
  const auto given = numbers(kOut * kIn, 1);
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if constexpr (std::is_same_v<W, std::int8_t>) {
      weight[i] = static_cast<std::int8_t>(given[i] * 254);
    } else {
      weight[i].bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(given[i]) >> 16U);
    }
  }
  const auto scale = numbers(kOut, 2);
  const auto x = numbers(kRows * kIn, 3);
  std::vector<float> y(kRows * kOut);
  const bool scaled = std::is_same_v<W, std::int8_t>;
  const auto layer = std::make_unique<kernels::Linear<float, kOut, kIn, W>>();
  layer->prepare(weight.data(), nullptr, scaled ? scale.data() : nullptr);
  layer->template run<kRows>(x.data(), y.data(), [](float value) { return value; });
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t n = 0; n < kOut; ++n) {
      double sum = 0;
      for (std::size_t k = 0; k < kIn; ++k) {
        sum += static_cast<double>(kernels::number(weight[n * kIn + k])) *
               static_cast<double>(x[row * kIn + k]);
      }
      if (scaled) sum *= static_cast<double>(scale[n]);
      EXPECT_NEAR(static_cast<double>(y[row * kOut + n]), sum, 1e-3) << kOut << " x " << kIn;
    }
  }
}

TEST(Linear, WeightsOfFewBits) {
  check_small<1, 1, 1, std::int8_t>();
  check_small<1, 12, 20, std::int8_t>();
  check_small<1, 70, 9, std::int8_t>();
  check_small<5, 70, 9, std::int8_t>();
  check_small<1, 12, 20, kernels::BFloat16>();
  check_small<1, 70, 9, kernels::BFloat16>();
  check_small<5, 70, 9, kernels::BFloat16>();
}

TEST(Linear, OneRow) {
  check<1, 1, 1>(true);
  check<1, 3, 5>(false);
  check<1, 12, 128>(true);
  check<1, 64, 48>(true);
  check<1, 67, 31>(true);
  check<1, 200, 33>(false);
}

TEST(Linear, SeveralRows) {
  check<2, 12, 7>(true);
  check<3, 64, 16>(true);
  check<4, 65, 9>(false);
  check<5, 24, 10>(true);
  check<17, 100, 20>(true);
}

}  // namespace
