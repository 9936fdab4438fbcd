// Shadow runs over several episodes.
#include "shadow_program.h"

namespace leapp {
namespace {

class ShadowRunTest : public testing::ShadowProgramTest {};

TEST_F(ShadowRunTest, ResetsThatTheProgramTellsAreFollowed) {
  testing::Integrator program;
  trace([&] { program.step(); });
  const ShadowReport report = shadow([&](Shadow& run) {
    for (int episode = 0; episode < 3; ++episode) {
      program = {};
      run.reset();
      for (int i = 0; i < 5; ++i) program.step();
    }
  });
  EXPECT_TRUE(report.passed()) << to_string(report);
  EXPECT_EQ(report.nodes[0].compared, 15u);
}

}  // namespace
}  // namespace leapp
