#include "controller/limiter.h"

#include <limits>

#include "support.h"

namespace leapp {
namespace {

using ::testing::ElementsAre;

const std::vector<double> kNothing(2, std::numeric_limits<double>::quiet_NaN());

TEST(Limiter, ClampsAndSlews) {
  const Bounds bounds = make_bounds(Limits{{-1}, {1, 2}, {10}}, 2, 0.1);
  std::vector<double> values = {5, -5};
  LimitOutcome outcome = limit(bounds, kNothing, values);
  EXPECT_THAT(values, ElementsAre(1, -1));  // no previous value: anywhere in the range
  EXPECT_TRUE(outcome.clamped);
  EXPECT_FALSE(outcome.slewed);
  EXPECT_FALSE(outcome.stop);
  values = {0.5, 2};
  outcome = limit(bounds, std::vector<double>{1, -1}, values);
  EXPECT_THAT(values, ElementsAre(0.5, 0));  // 1 in a step of 0.1 s
  EXPECT_FALSE(outcome.clamped);
  EXPECT_TRUE(outcome.slewed);
}

TEST(Limiter, TheRateWinsOverTheRange) {
  const Bounds bounds = make_bounds(Limits{{-1}, {1}, {10}}, 2, 0.1);
  std::vector<double> values = {5, 0};
  const LimitOutcome outcome = limit(bounds, std::vector<double>{4, -4}, values);
  EXPECT_THAT(values, ElementsAre(3, -3));  // one step towards the range, without a jump
  EXPECT_TRUE(outcome.clamped);
  EXPECT_TRUE(outcome.slewed);
}

TEST(Limiter, AnElementWithoutPreviousValueIsFree) {
  const Bounds bounds = make_bounds(Limits{{}, {}, {10}}, 2, 0.1);
  std::vector<double> values = {7, 7};
  EXPECT_TRUE(limit(bounds, std::vector<double>{kNothing[0], 0}, values).slewed);
  EXPECT_THAT(values, ElementsAre(7, 1));
}

TEST(Limiter, SaysStopForEitherLimit) {
  const Bounds bounds = make_bounds(Limits{{}, {1}, {10}, OnViolation::kStop}, 1, 0.1);
  std::vector<double> values = {0.5};
  EXPECT_FALSE(limit(bounds, std::vector<double>{0.0}, values).stop);
  values = {1.5};
  EXPECT_TRUE(limit(bounds, std::vector<double>{0.5}, values).stop);
  values = {-5};
  EXPECT_TRUE(limit(bounds, std::vector<double>{0.5}, values).stop);
}

TEST(Limiter, WithoutLimitsDoesNothing) {
  Bounds bounds = make_bounds(std::nullopt, 1, 0.1);
  std::vector<double> values = {3};
  EXPECT_FALSE(limit(bounds, kNothing, values).clamped);
  EXPECT_THAT(values, ElementsAre(3));
  narrow(bounds, 0, -1, 1);
  EXPECT_TRUE(limit(bounds, kNothing, values).clamped);
  EXPECT_THAT(values, ElementsAre(1));
}

}  // namespace
}  // namespace leapp
