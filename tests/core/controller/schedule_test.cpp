#include "controller/schedule.h"

#include "support.h"

namespace leapp {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

TEST(Schedule, WholeTicksOnly) {
  EXPECT_EQ(ticks_in(0.02, 1000, "x"), 20U);
  EXPECT_EQ(ticks_in(1.0 / 30, 90, "x"), 3U);
  EXPECT_THAT(message_of([] { ticks_in(0.02, 333, "the period"); }),
              HasSubstr("the period is 6.66 ticks of a loop at 333 Hz"));
  EXPECT_THAT(message_of([] { ticks_in(1e300, 500, "x"); }), HasSubstr("5e+302 ticks"));
  EXPECT_THAT(message_of([] { ticks_in(0.001, 500, "x"); }), HasSubstr("[LP653]"));
}

TEST(Schedule, TicksThatCoverATime) {
  EXPECT_EQ(ticks_that_cover(0, 100), 0U);
  EXPECT_EQ(ticks_that_cover(0.045, 100), 5U);
  EXPECT_EQ(ticks_that_cover(0.07, 100), 7U);        // 7.000000000000001 in double precision
  EXPECT_EQ(ticks_that_cover(0.016666667, 60), 1U);  // a tick, rounded to nanoseconds
  EXPECT_EQ(ticks_that_cover(1e300, 1e300), 1000000000000000000U);
}

TEST(Schedule, HistoriesAreSampledWhenThePolicyRuns) {
  EXPECT_EQ(find_sampling(20, 20, "x").every, 20U);
  EXPECT_EQ(find_sampling(5, 20, "x").every, 5U);
  EXPECT_EQ(find_sampling(5, 20, "x").stride, 1U);
  EXPECT_EQ(find_sampling(40, 20, "x").every, 20U);
  EXPECT_EQ(find_sampling(40, 20, "x").stride, 2U);
  EXPECT_THAT(message_of([] { find_sampling(15, 20, "x"); }), HasSubstr("a multiple of the other"));
}

}  // namespace
}  // namespace leapp
