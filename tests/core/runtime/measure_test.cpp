// The histogram, the finite guard and the mock input.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>

#include "runtime/finite.h"
#include "runtime/histogram.h"
#include "runtime/mock_input.h"

namespace leapp {
namespace {

using std::chrono::nanoseconds;

TEST(HistogramTest, PercentilesAreRightToTwoPercent) {
  Histogram histogram;
  for (int i = 1; i <= 100000; ++i) histogram.record(nanoseconds(i * 7));
  const LatencySummary summary = histogram.summary();
  EXPECT_EQ(summary.count, 100000u);
  EXPECT_NEAR(static_cast<double>(summary.p50.count()), 350000.0, 7000.0);
  EXPECT_NEAR(static_cast<double>(summary.p99.count()), 693000.0, 13900.0);
  EXPECT_NEAR(static_cast<double>(summary.p999.count()), 699300.0, 14000.0);
  EXPECT_EQ(summary.max, nanoseconds(700000));
  EXPECT_EQ(summary.mean, nanoseconds(350003));
}

TEST(HistogramTest, ExtremesStayInRange) {
  Histogram histogram;
  histogram.record(nanoseconds(-5));  // a clock that was set back
  histogram.record(std::chrono::hours(10));
  EXPECT_EQ(histogram.summary().max, std::chrono::hours(10));
  EXPECT_EQ(histogram.summary().p50, nanoseconds(0));
  EXPECT_EQ(Histogram().summary().count, 0u);
}

TEST(FiniteTest, FindsNanAndInfinityWhereverTheyAre) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    for (std::size_t at : {std::size_t{0}, std::size_t{255}, std::size_t{256}, std::size_t{999}}) {
      std::vector<float> values(1000, std::numeric_limits<float>::max());
      const TensorView view{values.data(), DType::kFloat32, {1000}};
      EXPECT_TRUE(all_finite(view));
      values[at] = bad;
      EXPECT_FALSE(all_finite(view));
    }
  }
}

TEST(FiniteTest, KnowsEveryFloatFormat) {
  const auto finite = [](DType dtype, auto bits) {
    return all_finite(TensorView{&bits, dtype, {1}});
  };
  EXPECT_TRUE(finite(DType::kFloat16, std::uint16_t{0x7BFF}));
  EXPECT_FALSE(finite(DType::kFloat16, std::uint16_t{0x7C00}));
  EXPECT_TRUE(finite(DType::kBFloat16, std::uint16_t{0x7F7F}));
  EXPECT_FALSE(finite(DType::kBFloat16, std::uint16_t{0xFF80}));
  EXPECT_TRUE(finite(DType::kFloat8E4M3FN, std::uint8_t{0x7E}));
  EXPECT_FALSE(finite(DType::kFloat8E4M3FN, std::uint8_t{0xFF}));
  EXPECT_TRUE(finite(DType::kFloat8E5M2, std::uint8_t{0x7B}));
  EXPECT_FALSE(finite(DType::kFloat8E5M2, std::uint8_t{0x7C}));
  EXPECT_FALSE(finite(DType::kFloat64, std::nan("")));
  EXPECT_FALSE(finite(DType::kComplex64, std::complex<float>(0, std::nanf(""))));
  EXPECT_TRUE(finite(DType::kInt64, std::int64_t{-1}));
}

TEST(MockInputTest, EveryTypeGetsSoundValues) {
  std::mt19937 random(0);
  for (int i = 0; i <= static_cast<int>(DType::kComplex128); ++i) {
    const DType dtype = static_cast<DType>(i);
    SCOPED_TRACE(name_of(dtype));
    Tensor value = mock_value(Port{.name = "x", .dtype = dtype, .shape = {2, 100}}, random);
    EXPECT_EQ(value.shape(), Shape({2, 100}));
    EXPECT_TRUE(all_finite(value.view()));
    if (dtype == DType::kInt16) {
      EXPECT_EQ(value.values<std::int16_t>()[7], 1);
    }
    if (is_floating_point(dtype)) {
      EXPECT_NE(value, Tensor(dtype, {2, 100}));
    }
  }
}

}  // namespace
}  // namespace leapp
