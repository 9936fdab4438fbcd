// Shadow runs as objects: one at a time.
#include "shadow_program.h"

namespace leapp {
namespace {

class ShadowTest : public testing::ShadowProgramTest {};

TEST_F(ShadowTest, OneRunAtATimeAndNoneWhileTracing) {
  testing::Integrator program;
  trace([&] { program.step(); });
  const Shadow first(file("g.yaml"));
  EXPECT_THROW(Shadow second(file("g.yaml")), Error);
  EXPECT_THROW(begin(), Error);
}

}  // namespace
}  // namespace leapp
