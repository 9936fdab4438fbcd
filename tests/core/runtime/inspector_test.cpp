// The nodes of a merged step, run one by one.
#include "runtime/inspector.h"

#include <gmock/gmock.h>

#include "leapp/inference_manager.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::Each;
using namespace leapp::testing;

class InspectorTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { find_libraries(); }
  TestBundle test;
};

TEST_F(InspectorTest, EveryPortCanStillBeRead) {
  add_policy(test);
  const auto yaml = test.write();
  InferenceManager merged(yaml);
  InferenceManager separate(yaml, {.merge = Merge::kOff});
  EXPECT_THAT(floats(merged.value("pre", "y")), Each(0));
  for (int tick = 0; tick < 3; ++tick) {
    const TensorMap in = {{"pre/x", row({0.1f, 0.2f, -0.3f, -0.9f})}};
    merged.run_policy(in);
    separate.run_policy(in);
    for (const char* name :
         {"pre/x", "pre/y", "policy/x", "policy/h", "policy/y", "post/a", "post/b", "post/y"}) {
      const PortRef ref = *parse_port_ref(name);
      EXPECT_EQ(merged.value(ref.node, ref.port), separate.value(ref.node, ref.port)) << name;
    }
  }
}

}  // namespace
}  // namespace leapp
