#include "controller/limiter.h"

#include "support.h"

namespace leapp {
namespace {

using ::testing::ElementsAre;

TEST(Limiter, ClampsAndSlews) {
  Limiter limiter(Limits{{-1}, {1, 2}, {10}}, 2, 0.1);
  std::vector<double> values = {5, -5};
  Limiter::Outcome outcome = limiter.apply(values);
  EXPECT_THAT(values, ElementsAre(1, -1));  // the first values may be any
  EXPECT_TRUE(outcome.clamped);
  EXPECT_FALSE(outcome.slewed);
  EXPECT_FALSE(outcome.stop);
  values = {0.5, 2};
  outcome = limiter.apply(values);
  EXPECT_THAT(values, ElementsAre(0.5, 0));  // 1 in a step of 0.1 s
  EXPECT_FALSE(outcome.clamped);
  EXPECT_TRUE(outcome.slewed);
}

TEST(Limiter, StopsWhereItSaysSo) {
  Limiter limiter(Limits{{}, {1}, {}, OnViolation::kStop}, 1, 0.1);
  std::vector<double> values = {0.5};
  EXPECT_FALSE(limiter.apply(values).stop);
  values = {1.5};
  EXPECT_TRUE(limiter.apply(values).stop);
}

TEST(Limiter, WithoutLimitsDoesNothing) {
  Limiter limiter(std::nullopt, 1, 0.1);
  EXPECT_FALSE(limiter.active());
  limiter.narrow(0, -1, 1);
  EXPECT_TRUE(limiter.active());
  std::vector<double> values = {3};
  EXPECT_TRUE(limiter.apply(values).clamped);
  EXPECT_THAT(values, ElementsAre(1));
}

}  // namespace
}  // namespace leapp
