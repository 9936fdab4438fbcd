#include "state/schedule_fit.h"

#include <gtest/gtest.h>

#include "program_runs.h"

namespace leapp::state {
namespace {

using testing::ProgramRuns;

ScheduleFit fit(const ProgramRuns& program,
                const std::map<session::NodeId, std::int64_t>& repeats = {},
                const std::set<session::NodeId>& moved = {}) {
  const auto nodes = program.nodes();
  return fit_schedule(nodes, program.runs, {.repeats = repeats, .moved = moved});
}

TEST(ScheduleFitTest, TheNodeThatRunsMostOftenDefinesTheTick) {
  const ScheduleFit found = fit(testing::planner_and_tracker(5, 15));
  EXPECT_EQ(found.misfit, "");
  EXPECT_EQ(found.base, 1);
  EXPECT_EQ(found.timings.at(0).every, 5);
  EXPECT_EQ(found.timings.at(0).periods, 3);
  EXPECT_EQ(found.timings.at(0).ticks, (std::vector{0, 5, 10}));
  EXPECT_EQ(found.timings.at(1).every, 1);
  EXPECT_EQ(found.ticks.count(), 15);
  EXPECT_EQ(found.ticks.latest(0, 7)->last, 1);
}

TEST(ScheduleFitTest, ATraceMayEndWithinATick) {
  ProgramRuns program = testing::planner_and_tracker(2, 4);
  program.run("planner", {"new"});
  const ScheduleFit found = fit(program);
  EXPECT_EQ(found.misfit, "");
  EXPECT_EQ(found.timings.at(0).ticks, (std::vector{0, 2, 4}));
  EXPECT_EQ(found.ticks.count(), 4);
}

TEST(ScheduleFitTest, ANodeThatStoppedHasNoPeriod) {
  ProgramRuns program = testing::planner_and_tracker(2, 4);
  for (int i = 0; i < 3; ++i) program.run("tracker", {"new", "planner/goal"});
  EXPECT_EQ(fit(program).timings.at(0).every, 0);
}

TEST(ScheduleFitTest, ASlowNodeThatRunsLateInTheTickStartsInThatTick) {
  ProgramRuns program;
  program.add("sense", {"x"}, {"y"});
  program.add("map", {"y"}, {"m"});
  for (int tick = 0; tick < 9; ++tick) {
    program.run("sense", {"new"});
    if (tick % 3 == 1) program.run("map", {"sense/y"});
  }
  const ScheduleFit found = fit(program);
  EXPECT_EQ(found.misfit, "");
  EXPECT_EQ(found.timings.at(1).ticks, (std::vector{1, 4, 7}));
  EXPECT_EQ(found.timings.at(1).every, 3);
  EXPECT_EQ(found.timings.at(1).phase(), 1);
  // Or it runs early in the next tick.
  const ScheduleFit other = fit(program, {}, {1});
  EXPECT_EQ(other.misfit, "");
  EXPECT_EQ(other.timings.at(1).ticks, (std::vector{2, 5, 8}));
  EXPECT_LT(other.order.at(1), other.order.at(0));
}

TEST(ScheduleFitTest, ANodeBetweenTwoOthersRunsThere) {
  ProgramRuns program;  // the detector first runs in tick 1
  program.add("gate", {"x"}, {"flag"});
  program.add("detector", {"y"}, {"box"});
  program.add("policy", {"box"}, {"u"});
  for (const int asked : {0, 1, 0, 0, 1, 1, 0}) {
    program.run("gate", {"new"}, {asked});
    if (asked != 0) program.run("detector", {"new"});
    program.run("policy", {program.runs.size() < 3 ? "same" : "detector/box"});
  }
  const ScheduleFit found = fit(program);
  EXPECT_EQ(found.misfit, "");
  EXPECT_EQ(found.order, (std::map<session::NodeId, int>{{0, 0}, {1, 1}, {2, 2}}));
  EXPECT_EQ(found.timings.at(1).ticks, (std::vector{1, 4, 5}));
  EXPECT_NE(fit(program, {}, {1}).misfit, "");
}

TEST(ScheduleFitTest, AnOrderThatChangesDoesNotFit) {
  ProgramRuns program;
  program.add("a", {"x"}, {"y"});
  program.add("b", {"x"}, {"y"});
  program.add("c", {"x"}, {"y"});
  for (int tick = 0; tick < 6; ++tick) {
    program.run("a", {"new"});
    program.run(tick % 2 == 0 ? "b" : "c", {"new"});
    program.run(tick % 2 == 0 ? "c" : "b", {"new"});
  }
  EXPECT_NE(fit(program).misfit, "");
}

TEST(ScheduleFitTest, ConsecutivePassesOnOwnResultsAreRunsInOneTick) {
  const ProgramRuns program = testing::denoising(4, 3);
  EXPECT_NE(fit(program).misfit, "");  // the fast node would define the tick
  const ScheduleFit found = fit(program, {{1, 0}});
  EXPECT_EQ(found.misfit, "");
  EXPECT_EQ(found.timings.at(1).repeat, 4);
  EXPECT_EQ(found.timings.at(1).carry, (std::map<std::string, std::string>{{"x_out", "x"}}));
  EXPECT_EQ(found.timings.at(1).index, "");
  EXPECT_EQ(*found.ticks.turn_in(1, 2), (Ticks::Turn{2, 8, 11}));
  EXPECT_EQ(found.ticks.count(), 3);
}

TEST(ScheduleFitTest, AnIntegerThatCountsTheRunsIsTheirIndex) {
  const ScheduleFit found = fit(testing::denoising(4, 2, /*counts=*/true), {{1, 0}});
  EXPECT_EQ(found.misfit, "");
  EXPECT_EQ(found.timings.at(1).index, "number");
}

TEST(ScheduleFitTest, AStatedNumberOfRunsSplitsALongRow) {
  ProgramRuns program;
  program.add("denoise", {"x"}, {"x_out"});
  for (int i = 0; i < 7; ++i) program.run("denoise", {i % 3 == 0 ? "new" : "denoise/x_out"});
  const ScheduleFit found = fit(program, {{0, 3}});
  EXPECT_EQ(found.misfit, "");
  EXPECT_EQ(found.timings.at(0).ticks.size(), 2U);  // the seventh pass is the start of a third tick
}

// Each program is not what it would have to be.
TEST(ScheduleFitTest, WhatDoesNotFit) {
  {
    ProgramRuns program;  // one encoder for two cameras
    program.add("enc", {"x"}, {"y"});
    program.add("head", {"left", "right"}, {"u"});
    for (int tick = 0; tick < 3; ++tick) {
      program.run("enc", {"new"});
      program.run("enc", {"new"});
      program.run("head", {"enc/y-1", "enc/y"});
    }
    EXPECT_NE(fit(program).misfit, "");
    EXPECT_NE(fit(program, {{0, 0}}).misfit, "");
  }
  {
    ProgramRuns program = testing::denoising(4, 2);  // another number of runs
    program.run("encoder", {"new"});
    for (int i = 0; i < 3; ++i)
      program.run("denoise", {i == 0 ? "new" : "denoise/x_out", "encoder/z", "same"});
    program.run("decoder", {"denoise/x_out"});
    EXPECT_NE(fit(program, {{1, 0}}).misfit, "");
  }
  {
    ProgramRuns program;  // an input that changes from run to run
    program.add("enc", {"x"}, {"z"});
    program.add("step", {"x", "t"}, {"x_out"});
    for (int tick = 0; tick < 2; ++tick) {
      program.run("enc", {"new"});
      for (int i = 0; i < 3; ++i) program.run("step", {i == 0 ? "enc/z" : "step/x_out", "new"});
    }
    EXPECT_NE(fit(program, {{1, 0}}).misfit, "");
  }
  {
    ProgramRuns program;  // an older value than the latest
    program.add("plan", {"x"}, {"goal"});
    program.add("track", {"goal"}, {"u"});
    for (int tick = 0; tick < 8; ++tick) {
      if (tick % 2 == 0) program.run("plan", {"new"});
      program.run("track", {tick < 4 ? "plan/goal" : "plan/goal-1"});
    }
    EXPECT_NE(fit(program).misfit, "");
  }
  {
    ProgramRuns program = testing::planner_and_tracker(3, 6);  // no longer the planner's goal
    program.run("planner", {"new"});
    program.run("tracker", {"new", "new"});
    EXPECT_NE(fit(program).misfit, "");
  }
}

TEST(ScheduleFitTest, BeforeTheFirstRunOfItsSourceAnInputMayComeFromOutside) {
  ProgramRuns program;
  program.add("track", {"goal"}, {"u"});
  program.add("plan", {"x"}, {"goal"});
  for (int tick = 0; tick < 8; ++tick) {
    program.run("track", {tick < 3 ? "same" : "plan/goal"});
    if (tick % 4 == 2) program.run("plan", {"new"});
  }
  const ScheduleFit found = fit(program);
  EXPECT_EQ(found.misfit, "");
  EXPECT_EQ(found.timings.at(1).phase(), 2);
}

}  // namespace
}  // namespace leapp::state
