// Histograms of weights of every type.
#include "view/distribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "leapp/tensor.h"

namespace leapp::view {
namespace {

TEST(DistributionTest, CountsWhatThereIs) {
  const Tensor tensor({8}, {0.0f, 1.0f, 2.0f, 3.0f, 4.0f, NAN, INFINITY, -INFINITY});
  const Distribution found = distribution_of(tensor.view());
  EXPECT_EQ(found.count, 8u);
  EXPECT_EQ(found.nan, 1u);
  EXPECT_EQ(found.infinite, 2u);
  EXPECT_EQ(found.zero, 1u);
  EXPECT_EQ(found.min, 0);
  EXPECT_EQ(found.max, 4);
  EXPECT_EQ(found.mean, 2);
  EXPECT_NEAR(found.deviation, std::sqrt(2.0), 1e-12);
  EXPECT_EQ(std::accumulate(found.bins.begin(), found.bins.end(), std::uint64_t{0}), 5u);
  EXPECT_EQ(found.bins.front(), 1u);
  EXPECT_EQ(found.bins.back(), 1u);
}

TEST(DistributionTest, EqualElementsAreOneBin) {
  const Distribution found = distribution_of(Tensor({3}, {2.0, 2.0, 2.0}).view());
  EXPECT_EQ(found.bins.front(), 3u);
  EXPECT_EQ(found.deviation, 0);
}

TEST(DistributionTest, NothingHasNoRange) {
  EXPECT_EQ(distribution_of(Tensor(DType::kFloat32, {0}).view()).count, 0u);
  EXPECT_EQ(distribution_of(Tensor({1}, {NAN}).view()).max, 0);
}

TEST(DistributionTest, ElementsNeedNotBeAligned) {
  std::vector<char> bytes(1 + 2 * sizeof(double));
  const double numbers[] = {1.5, -2.5};
  std::memcpy(bytes.data() + 1, numbers, sizeof numbers);
  const ConstTensorView view{bytes.data() + 1, DType::kFloat64, {2}};
  EXPECT_EQ(distribution_of(view).min, -2.5);
  EXPECT_EQ(element_of(view, 0), 1.5);
}

TEST(DistributionTest, EveryTypeIsANumber) {
  for (int i = 0; i <= static_cast<int>(DType::kComplex128); ++i) {
    const Tensor tensor(static_cast<DType>(i), {5});
    EXPECT_EQ(distribution_of(tensor.view()).zero, 5u) << name_of(tensor.dtype());
  }
}

}  // namespace
}  // namespace leapp::view
