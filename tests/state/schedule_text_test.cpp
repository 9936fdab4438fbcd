#include "state/schedule_text.h"

#include <gtest/gtest.h>

#include "tape_of.h"

namespace leapp::state {
namespace {

TEST(ScheduleTextTest, Ordinals) {
  for (const auto& [number, text] : {std::pair(1, "1st"),
                                     {2, "2nd"},
                                     {3, "3rd"},
                                     {5, "5th"},
                                     {11, "11th"},
                                     {13, "13th"},
                                     {22, "22nd"},
                                     {112, "112th"}}) {
    EXPECT_EQ(nth(number), text);
  }
}

TEST(ScheduleTextTest, AnEntryNamesItsRhythmAndHowOftenItWasSeen) {
  EXPECT_EQ(describe_entry({.node = "planner", .every = 5}, "tracker", 3),
            "planner: in every 5th tick of tracker, seen 3 times");
  EXPECT_EQ(describe_entry({.node = "d", .repeat = 10, .carry = {{"y", "x"}}}, "d", 2),
            "d: in every tick, 10 times in a row; each run reads the y of the run before as its x, "
            "seen twice");
}

TEST(ScheduleTextTest, ADeclarationIsTheCallThatStatesIt) {
  EXPECT_EQ(declaration_of({{.node = "planner", .every = 5, .phase = 2},
                            {.node = "detector", .when = PortRef{"gate", "flag"}}}),
            "leapp.start(schedule={\"planner\": {\"every\": 5, \"phase\": 2}, "
            "\"detector\": {\"when\": \"gate/flag\"}})");
  EXPECT_EQ(declaration_of({{.node = "n", .on_change = {"a", "b"}, .ages = {{"k", "planner"}}}}),
            "leapp.start(schedule={\"n\": {\"on_change\": [\"a\", \"b\"], \"age\": {\"k\": "
            "\"planner\"}}})");
  EXPECT_EQ(declaration_of({{.node = "n"}}), "leapp.start(schedule={\"n\": {}})");
}

TEST(ScheduleTextTest, CountsAndTicks) {
  const session::Node planner = testing::node_of("planner", 0, 1);
  const session::Node tracker = testing::node_of("tracker", 1, 5);
  const session::Node* nodes[] = {&planner, &tracker};
  EXPECT_EQ(counts_in_words(nodes), "'planner' once, 'tracker' 5 times");
  EXPECT_EQ(ticks_in_words({0, 1, 4}), "0, 1, 4");
  EXPECT_EQ(ticks_in_words({0, 1, 4, 5, 6, 9, 11}), "0, 1, 4, 5, 6, 9, ..");
}

}  // namespace
}  // namespace leapp::state
