#include "runtime/histogram.h"

#include <gtest/gtest.h>

namespace leapp {
namespace {

using std::chrono::nanoseconds;

TEST(HistogramTest, BeginsEmpty) {
  const LatencySummary summary = Histogram().summary();
  EXPECT_EQ(summary.count, 0u);
  EXPECT_EQ(summary.max.count(), 0);
  EXPECT_EQ(summary.p999.count(), 0);
}

TEST(HistogramTest, OneValueIsEveryPercentile) {
  Histogram histogram;
  histogram.record(nanoseconds(17));
  const LatencySummary summary = histogram.summary();
  EXPECT_EQ(summary.count, 1u);
  EXPECT_EQ(summary.mean.count(), 17);
  EXPECT_EQ(summary.p50.count(), 17);
  EXPECT_EQ(summary.p999.count(), 17);
  EXPECT_EQ(summary.max.count(), 17);
}

TEST(HistogramTest, PercentilesAreExactToTwoPercent) {
  Histogram histogram;
  for (int i = 1; i <= 10'000; ++i) histogram.record(nanoseconds(100 * i));
  const LatencySummary summary = histogram.summary();
  EXPECT_EQ(summary.count, 10'000u);
  EXPECT_EQ(summary.mean.count(), 500'050);
  EXPECT_NEAR(static_cast<double>(summary.p50.count()), 500'000, 10'000);
  EXPECT_NEAR(static_cast<double>(summary.p99.count()), 990'000, 19'800);
  EXPECT_NEAR(static_cast<double>(summary.p999.count()), 999'000, 19'980);
  EXPECT_EQ(summary.max.count(), 1'000'000);
}

TEST(HistogramTest, NegativeAndEnormousTimesHaveAPlace) {
  Histogram histogram;
  histogram.record(nanoseconds(-5));
  EXPECT_EQ(histogram.summary().max.count(), 0);
  histogram.record(nanoseconds::max());
  EXPECT_EQ(histogram.summary().max, nanoseconds::max());
  EXPECT_EQ(histogram.summary().count, 2u);
}

}  // namespace
}  // namespace leapp
