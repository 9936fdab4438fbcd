// C++ programs that continue after tracing, compared with their bundle in every tick.
#include "shadow_program.h"

namespace leapp {
namespace {

using ::testing::HasSubstr;

class ShadowStepTest : public testing::ShadowProgramTest {};

TEST_F(ShadowStepTest, AProgramThatDoesWhatWasTracedPasses) {
  testing::Integrator program;
  trace([&] { program.step(); });
  program = {};
  const ShadowReport report = shadow([&](Shadow&) {
    for (int i = 0; i < 50; ++i) program.step();
  });
  EXPECT_TRUE(report.passed()) << to_string(report);
  EXPECT_EQ(report.nodes[0].compared, 50u);
  EXPECT_THAT(to_string(report), HasSubstr("ok    pi: 50 ticks"));
}

TEST_F(ShadowStepTest, TheFirstDifferenceIsNamedWithItsTickAndLine) {
  testing::Integrator program;
  trace([&] { program.step(); });
  program = {.jump = 7};
  const ShadowReport report = shadow([&](Shadow&) {
    for (int i = 0; i < 10; ++i) program.step();
  });
  EXPECT_FALSE(report.passed());
  const ShadowNodeReport& node = report.nodes[0];
  ASSERT_TRUE(node.first.has_value());
  EXPECT_EQ(node.first->tick, 7u);
  EXPECT_EQ(node.first->port, "y");
  EXPECT_NEAR(node.first->comparison.difference.max, 1, 1e-4);
  EXPECT_THAT(node.first->where, HasSubstr("shadow_program.h:"));
  EXPECT_EQ(node.compared, 7u);
  EXPECT_EQ(node.unjudged, 3u) << "a node with state is not judged after that";
}

}  // namespace
}  // namespace leapp
