#include "state/schedule_inference.h"

#include <gmock/gmock.h>

#include "leapp/error.h"
#include "program_runs.h"

namespace leapp::state {
namespace {

using ::testing::HasSubstr;
using testing::ProgramRuns;
using Entries = std::vector<NodeSchedule>;

InferredSchedule infer(const ProgramRuns& program, const Entries& stated = {}) {
  const auto nodes = program.nodes();
  return infer_schedule(nodes, program.runs, stated);
}

Code refusal(const ProgramRuns& program, const Entries& stated = {}) {
  const InferredSchedule found = infer(program, stated);
  EXPECT_EQ(found.entries, Entries{});
  EXPECT_TRUE(found.ticks.empty());
  return found.refusal ? found.refusal->code : Code::kInternal;
}

TEST(ScheduleInferenceTest, ASlowNodeHasAPeriod) {
  const InferredSchedule found = infer(testing::planner_and_tracker(5, 15));
  EXPECT_EQ(found.refusal, std::nullopt);
  EXPECT_EQ(found.entries, (Entries{{.node = "planner", .every = 5}}));
  EXPECT_EQ(found.remarks,
            std::vector<std::string>{"planner: in every 5th tick of tracker, seen 3 times"});
  EXPECT_EQ(found.ticks.count(), 15);
}

TEST(ScheduleInferenceTest, ALoopOnItsOwnResultsRunsSeveralTimesPerTick) {
  const InferredSchedule found = infer(testing::denoising(10, 2, /*counts=*/true));
  EXPECT_EQ(found.refusal, std::nullopt);
  EXPECT_EQ(
      found.entries,
      (Entries{{.node = "denoise", .repeat = 10, .carry = {{"x_out", "x"}}, .index = "number"}}));
  // The first run of a tick decides where an input comes from.
  const Node& changed = found.changed.at(1);
  EXPECT_FALSE(changed.inputs[0].source);
  EXPECT_EQ(changed.inputs[1].source, (PortId{0, "z"}));
  EXPECT_EQ(changed.inputs[1].age.reads(), 2);
}

TEST(ScheduleInferenceTest, ABoolDecides) {
  ProgramRuns program;
  program.add("gate", {"x"}, {"flag"});
  program.add("detector", {"y"}, {"box"});
  for (const int asked : {0, 1, 1, 0, 0, 0, 1, 0, 0}) {
    program.run("gate", {"new"}, {asked});
    if (asked != 0) program.run("detector", {"new"});
  }
  EXPECT_EQ(infer(program).entries,
            (Entries{{.node = "detector", .when = PortRef{"gate", "flag"}}}));
}

TEST(ScheduleInferenceTest, ProgramsOfOneRateHaveNoSchedule) {
  const auto plain = [](const ProgramRuns& program) {
    const InferredSchedule found = infer(program);
    EXPECT_EQ(found.entries, Entries{});
    EXPECT_EQ(found.refusal, std::nullopt);
    EXPECT_TRUE(found.remarks.empty());
    EXPECT_TRUE(found.ticks.empty());
  };
  plain(testing::planner_and_tracker(1, 3));
  plain(testing::planner_and_tracker(1, 1));
  {
    ProgramRuns program;  // one node alone, on its own results
    program.add("pi", {"last"}, {"u"});
    for (int i = 0; i < 6; ++i) program.run("pi", {i == 0 ? "new" : "pi/u"});
    plain(program);
  }
  {
    ProgramRuns program;  // samples of one node before the others, and of another one after them
    program.add("sense", {"x"}, {"y"});
    program.add("pi", {"y"}, {"u"});
    program.add("other", {"x"}, {"y"});
    for (int i = 0; i < 3; ++i) program.run("sense", {"new"});
    for (int i = 0; i < 3; ++i) {
      program.run("sense", {"new"});
      program.run("pi", {"sense/y"});
    }
    for (int i = 0; i < 3; ++i) program.run("other", {"new"});
    plain(program);
  }
}

TEST(ScheduleInferenceTest, WhatFitsTwoSchedulesIsRefusedWithBoth) {
  ProgramRuns program;  // runs on its own results also across ticks
  program.add("goal", {"x"}, {"g"});
  program.add("track", {"g", "last"}, {"u"});
  for (int tick = 0; tick < 3; ++tick) {
    program.run("goal", {"new"});
    for (int i = 0; i < 4; ++i) {
      program.run("track", {"goal/g", tick + i == 0 ? "same" : "track/u"});
    }
  }
  EXPECT_EQ(refusal(program), Code::kRates);
  const std::string text = infer(program).refusal->text;
  EXPECT_THAT(text, HasSubstr("{\"goal\": {\"every\": 4}}"));
  EXPECT_THAT(text, HasSubstr("{\"track\": {\"repeat\": 4}}"));
  EXPECT_EQ(infer(program, {{.node = "goal", .every = 4}, {.node = "track"}}).entries,
            (Entries{{.node = "goal", .every = 4}}));
  EXPECT_EQ(infer(program, {{.node = "track", .repeat = 4}}).entries,
            (Entries{{.node = "track", .repeat = 4, .carry = {{"u", "last"}}}}));
}

TEST(ScheduleInferenceTest, APeriodAndAConditionThatFitAreRefused) {
  ProgramRuns program;
  program.add("clock", {"x"}, {"flag"});
  program.add("plan", {"x"}, {"goal"});
  for (int tick = 0; tick < 8; ++tick) {
    program.run("clock", {"new"}, {tick % 2 == 0});
    if (tick % 2 == 0) program.run("plan", {"new"});
  }
  EXPECT_EQ(refusal(program), Code::kRates);
  const Entries by_clock = {{.node = "plan", .when = PortRef{"clock", "flag"}}};
  EXPECT_EQ(infer(program, by_clock).entries, by_clock);
}

// A slow node between two runs of the fast one belongs to either tick.
TEST(ScheduleInferenceTest, ThePassesMustShowTheTickOfASlowNode) {
  const auto program = [](int first) {
    ProgramRuns made;
    made.add("fast", {"x"}, {"y"});
    made.add("slow", {"x"}, {"y"});
    for (int tick = 0; tick < 9; ++tick) {
      made.run("fast", {"new"});
      if (tick % 3 == first) made.run("slow", {"new"});
    }
    return made;
  };
  EXPECT_EQ(refusal(program(0)), Code::kRates);
  EXPECT_EQ(refusal(program(1)), Code::kRates);
  const Entries at_once = {{.node = "slow", .every = 3}};
  EXPECT_EQ(infer(program(0), at_once).entries, at_once);
  for (const int phase : {1, 2}) {
    const Entries stated = {{.node = "slow", .every = 3, .phase = phase}};
    const InferredSchedule found = infer(program(1), stated);
    EXPECT_EQ(found.entries, stated);
    EXPECT_EQ(found.changed.at(1).completion, phase == 1 ? 1 : 0);
  }
  EXPECT_EQ(refusal(program(1), {{.node = "slow", .every = 3}}), Code::kRates);
}

TEST(ScheduleInferenceTest, OncePerPatternIsTooLittle) {
  EXPECT_EQ(refusal(testing::planner_and_tracker(5, 7)), Code::kRates);
  EXPECT_EQ(refusal(testing::planner_and_tracker(9, 5)), Code::kRates);
  EXPECT_EQ(refusal(testing::denoising(4, 1)), Code::kRates);
  // Stated, it is enough.
  const Entries stated = {{.node = "planner", .every = 9}};
  EXPECT_EQ(infer(testing::planner_and_tracker(9, 5), stated).entries, stated);
}

TEST(ScheduleInferenceTest, WhatNoScheduleExpressesIsRefused) {
  {
    ProgramRuns program;  // no period, no condition
    program.add("plan", {"x"}, {"goal"});
    program.add("track", {"goal"}, {"u"});
    for (const int plans : {1, 1, 0, 0, 1, 0, 1, 1, 0}) {
      if (plans != 0) program.run("plan", {"new"});
      program.run("track", {"plan/goal"});
    }
    EXPECT_EQ(refusal(program), Code::kRates);
  }
  {
    ProgramRuns program;  // an input with two sources
    program.add("reset", {"x"}, {"h"});
    program.add("pi", {"h"}, {"h2"});
    program.run("reset", {"new"});
    for (int i = 0; i < 4; ++i) program.run("pi", {i == 0 ? "reset/h" : "pi/h2"});
    EXPECT_EQ(refusal(program), Code::kRates);
  }
  {
    ProgramRuns program;  // one node that holds its own value now and then
    program.add("pi", {"last"}, {"u"});
    for (int i = 0; i < 5; ++i) {
      program.run("pi", {i == 0 ? "new" : i % 2 == 0 ? "pi/u-1" : "pi/u"});
    }
    EXPECT_EQ(refusal(program), Code::kRates);
  }
}

TEST(ScheduleInferenceTest, AStatedScheduleIsComparedWithThePasses) {
  const ProgramRuns program = testing::planner_and_tracker(5, 15);
  const Entries right = {{.node = "planner", .every = 5}};
  EXPECT_EQ(infer(program, right).entries, right);
  EXPECT_EQ(refusal(program, {{.node = "planner", .every = 3}}), Code::kRates);
  EXPECT_EQ(refusal(program, {{.node = "planner", .every = 5, .phase = 1}}), Code::kRates);
  EXPECT_EQ(refusal(program, {{.node = "planner", .every = 5, .repeat = 2}}), Code::kRates);
  const Entries watched = {{.node = "planner", .on_change = {"x"}}};
  EXPECT_EQ(infer(program, watched).entries, watched);
}

TEST(ScheduleInferenceTest, AnAgeIsComparedWithTheNumbers) {
  for (const int wrong : {0, 1}) {
    ProgramRuns program;
    program.add("plan", {"x"}, {"chunk"});
    program.add("play", {"chunk", "number"}, {"u"});
    for (int tick = 0; tick < 9; ++tick) {
      if (tick % 3 == 0) program.run("plan", {"new"});
      program.run("play", {"plan/chunk", "#" + std::to_string(tick % 3 + (tick == 7 ? wrong : 0))});
    }
    const Entries stated = {{.node = "play", .ages = {{"number", "plan"}}}};
    EXPECT_EQ(infer(program, stated).refusal.has_value(), wrong == 1);
  }
}

TEST(ScheduleInferenceTest, NamesAreChecked) {
  const ProgramRuns program = testing::planner_and_tracker(5, 15);
  const auto code = [&](const NodeSchedule& entry) {
    try {
      infer(program, {entry});
    } catch (const Error& error) {
      return error.code();
    }
    return Code::kInternal;
  };
  EXPECT_EQ(code({.node = "plan"}), Code::kUnknownNode);
  EXPECT_EQ(code({.node = "planner", .index = "i"}), Code::kUnknownPort);
  EXPECT_EQ(code({.node = "planner", .when = PortRef{"gate", "flag"}}), Code::kUnknownNode);
  EXPECT_EQ(code({.node = "planner", .when = PortRef{"tracker", "flag"}}), Code::kUnknownPort);
  EXPECT_EQ(code({.node = "planner", .on_change = {"y"}}), Code::kUnknownPort);
  EXPECT_EQ(code({.node = "tracker", .ages = {{"goal", "gate"}}}), Code::kUnknownNode);
}

}  // namespace
}  // namespace leapp::state
