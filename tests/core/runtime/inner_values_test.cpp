// Values inside merged nodes, computed on request.
#include "runtime/inner_values.h"

#include <gmock/gmock.h>

#include "leapp/inference_manager.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using namespace leapp::testing;

class InnerValuesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { find_libraries(); }
  TestBundle test;
};

TEST_F(InnerValuesTest, InnerPortsAreThoseOfTheLastTick) {
  add_policy(test);
  const auto yaml = test.write();
  InferenceManager merged(yaml);
  InferenceManager separate(yaml, {.merge = Merge::kOff});
  const TensorMap in = {{"pre/x", row({0.1f, 0.2f, -0.3f, -0.9f})}};
  for (InferenceManager* manager : {&merged, &separate}) {
    manager->run_policy(in);
    manager->set_input_value("pre", "x", row({9, 9, 9, 9}).view());
    manager->prepare();
    manager->reset();
  }
  for (const char* name :
       {"pre/x", "pre/y", "policy/x", "policy/y", "post/a", "post/b", "post/y"}) {
    const PortRef ref = *parse_port_ref(name);
    EXPECT_EQ(merged.value(ref.node, ref.port), separate.value(ref.node, ref.port)) << name;
  }
  // A real-time loop keeps no inputs, so the value cannot be computed any more.
  merged.run_policy({{"pre/x", row({9, 9, 9, 9})}});
  EXPECT_THAT(floats(merged.value("pre", "y")), Each(19));
  const Tensor ones = row({1, 1, 1, 1});
  merged.set_input(merged.input_port("pre/x"), ones).value();
  EXPECT_THAT(message_of([&] { merged.value("pre", "y"); }),
              HasSubstr("values inside merged nodes are computed on request"));
  merged.tick().value();
  EXPECT_THAT(floats(merged.value("pre", "y")), Each(3));
}

TEST_F(InnerValuesTest, ReadingAnInnerPortChangesNothing) {
  test.node("pre", "affine.onnx", {port("x")}, {port("y")})
      .node("policy", "recurrent.onnx", {port("x"), port("h_in")}, {port("y"), port("h_out")})
      .node("post", "clamp_sum.onnx", {port("a"), port("b")}, {port("y")})
      .wire("pre/y", "policy/x")
      .feedback("policy/h_out", "policy/h_in")
      .feedback("policy/h_out", "post/a")
      .wire("policy/y", "post/b")
      .input("pre/x")
      .output("post/y")
      .merged({"pre", "policy", "post"});
  const auto yaml = test.write();
  InferenceManager read(yaml);
  InferenceManager plain(yaml);
  const TensorMap in = {{"pre/x", row({-0.7f, -0.2f, -0.3f, -0.9f})}};
  for (int tick = 0; tick < 5; ++tick) {
    ASSERT_EQ(read.run_policy(in), plain.run_policy(in));
    // The value of the last tick, although its state has advanced since.
    EXPECT_EQ(floats(read.value("policy", "y")).size(), 4u);
    ASSERT_EQ(read.state(), plain.state());
  }
  InferenceManager separate(yaml, {.merge = Merge::kOff});
  for (int tick = 0; tick < 5; ++tick) separate.run_policy(in);
  EXPECT_EQ(read.value("policy", "y"), separate.value("policy", "y"));
}

}  // namespace
}  // namespace leapp
