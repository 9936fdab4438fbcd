#include "state/conditions.h"

#include <gtest/gtest.h>

#include "program_runs.h"

namespace leapp::state {
namespace {

using testing::ProgramRuns;
using Ports = std::vector<PortRef>;

// A gate in every tick, and a detector in those ticks in which it asks for it.
ProgramRuns gate_and_detector(const std::vector<int>& asks) {
  ProgramRuns program;
  program.add("gate", {"x"}, {"flag", "y"});
  program.add("detector", {"y"}, {"box"});
  for (const int asked : asks) {
    program.run("gate", {"new"}, {asked, std::nullopt});
    if (asked != 0) program.run("detector", {"gate/y"});
  }
  program.run("gate", {"new"}, {0, std::nullopt});
  return program;
}

Ports conditions(const ProgramRuns& program, std::size_t node) {
  const auto nodes = program.nodes();
  const ScheduleFit fit = fit_schedule(nodes, program.runs, {});
  EXPECT_EQ(fit.misfit, "");
  return find_conditions(*nodes[node], nodes, program.runs, fit);
}

TEST(ConditionsTest, AnOutputThatIsTrueInTheTicksOfARun) {
  EXPECT_EQ(conditions(gate_and_detector({1, 0, 0, 1, 1, 0, 1}), 1), (Ports{{"gate", "flag"}}));
}

TEST(ConditionsTest, OneThatWasTrueOnceMoreIsNone) {
  ProgramRuns program = gate_and_detector({1, 0, 0, 1, 1, 0, 1});
  program.run("gate", {"new"}, {1, std::nullopt});
  program.run("gate", {"new"}, {0, std::nullopt});
  EXPECT_EQ(conditions(program, 1), Ports{});
}

TEST(ConditionsTest, AnInputOfANodeThatRunsInEveryTick) {
  ProgramRuns program;
  program.add("track", {"flag_request"}, {"u"});
  program.add("detector", {"u"}, {"box"});
  for (const int asked : {0, 1, 1, 0, 0, 1, 0}) {
    program.run("track", {"#" + std::to_string(asked)});
    if (asked != 0) program.run("detector", {"track/u"});
  }
  EXPECT_EQ(conditions(program, 1), (Ports{{"track", "flag_request"}}));
}

TEST(ConditionsTest, ALaterNodeDecidesNothing) {
  ProgramRuns program;
  program.add("detector", {"x"}, {"box"});
  program.add("gate", {"box"}, {"flag"});
  for (const int asked : {1, 0, 0, 1, 1, 0}) {
    if (asked != 0) program.run("detector", {"new"});
    program.run("gate", {"detector/box"}, {asked});
  }
  EXPECT_EQ(conditions(program, 0), Ports{});
}

}  // namespace
}  // namespace leapp::state
