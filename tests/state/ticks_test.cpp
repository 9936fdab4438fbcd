#include "state/ticks.h"

#include <gtest/gtest.h>

namespace leapp::state {
namespace {

using Turn = Ticks::Turn;

Ticks every_third_tick() {
  Ticks ticks;
  ticks.add(0, {0, 0, 0});
  ticks.add(0, {3, 1, 1});
  ticks.add(1, {1, 0, 9});
  ticks.add(1, {2, 10, 19});
  return ticks;
}

TEST(TicksTest, AProgramWithoutAScheduleHasNone) {
  EXPECT_TRUE(Ticks().empty());
  EXPECT_EQ(Ticks().turn_of(0, 0), nullptr);
  EXPECT_EQ(Ticks().latest(0, 5), nullptr);
  EXPECT_FALSE(every_third_tick().empty());
}

TEST(TicksTest, EachPassBelongsToOneTurn) {
  const Ticks ticks = every_third_tick();
  EXPECT_EQ(*ticks.turn_of(0, 1), (Turn{3, 1, 1}));
  EXPECT_EQ(*ticks.turn_of(1, 9), (Turn{1, 0, 9}));
  EXPECT_EQ(*ticks.turn_of(1, 10), (Turn{2, 10, 19}));
  EXPECT_EQ(ticks.turn_of(1, 20), nullptr);
}

TEST(TicksTest, TheLatestTurnIsThatOfTheTickOrAnEarlierOne) {
  const Ticks ticks = every_third_tick();
  EXPECT_EQ(ticks.latest(0, 2)->tick, 0);
  EXPECT_EQ(ticks.latest(0, 3)->tick, 3);
  EXPECT_EQ(ticks.latest(1, 0), nullptr);
  EXPECT_EQ(ticks.turn_in(0, 2), nullptr);
  EXPECT_EQ(*ticks.turn_in(1, 2), (Turn{2, 10, 19}));
}

}  // namespace
}  // namespace leapp::state
