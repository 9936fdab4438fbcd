#include "leapp/inference_manager.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "leapp/tools/merge.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;
using namespace leapp::testing;

TEST_F(InferenceManagerTest, RunsAPipelineWithStateAndFeedback) {
  add_policy(test);
  InferenceManager manager(test.write());
  EXPECT_THAT(manager.inputs(), ElementsAre("pre/x"));
  EXPECT_THAT(manager.outputs(), ElementsAre("post/y"));
  EXPECT_THAT(manager.feedback_inputs(), ElementsAre("policy/h_in", "post/b"));
  PolicyReference reference;
  for (int tick = 0; tick < 20; ++tick) {
    const float obs = std::sin(static_cast<float>(tick)) * 0.7f - 0.5f;
    const TensorMap outputs = manager.run_policy({{"pre/x", row({obs, obs, obs, obs})}});
    ASSERT_THAT(floats(outputs.at("post/y")), Each(FloatEq(reference.tick(obs)))) << tick;
  }
}

TEST_F(InferenceManagerTest, RealTimeFaceGivesTheSame) {
  add_policy(test);
  InferenceManager manager(test.write());
  const InputPort obs = manager.input_port("pre/x");
  const OutputPort action = manager.output_port("post/y");
  manager.prepare();
  PolicyReference reference;
  for (int tick = 0; tick < 5; ++tick) {
    const float value = 0.1f * static_cast<float>(tick) - 0.6f;
    const std::array<float, 4> elements{value, value, value, value};
    manager.set_input(obs, elements).value();
    manager.tick().value();
    ASSERT_THAT(floats(manager.output(action)), Each(FloatEq(reference.tick(value))));
  }
}

TEST_F(InferenceManagerTest, NodesRunInOrderOfTheirWires) {
  // Listed in reverse order.
  test.node("second", "affine.onnx", {port("x")}, {port("y")})
      .node("first", "affine.onnx", {port("x")}, {port("y")})
      .wire("first/y", "second/x")
      .input("first/x")
      .output("second/y");
  InferenceManager manager(test.write());
  const TensorMap outputs = manager.run_policy({{"first/x", row({0, 1, 2, 3})}});
  EXPECT_THAT(floats(outputs.at("second/y")), ElementsAre(3, 7, 11, 15));
}

TEST_F(InferenceManagerTest, OneOutputFeedsManyInputsInsideAndOutside) {
  test.node("pre", "affine.onnx", {port("x")}, {port("y")})
      .node("post", "clamp_sum.onnx", {port("a"), port("b")}, {port("y")})
      .wire("pre/y", "post/a")
      .wire("pre/y", "post/b")
      .input("pre/x")
      .output("pre/y")
      .output("post/y");
  InferenceManager manager(test.write());
  const TensorMap outputs = manager.run_policy({{"pre/x", row({-0.75, -0.5, -0.25, 4})}});
  EXPECT_THAT(floats(outputs.at("pre/y")), ElementsAre(-0.5, 0, 0.5, 9));
  EXPECT_THAT(floats(outputs.at("post/y")), ElementsAre(-1, 0, 1, 1));
}

TEST_F(InferenceManagerTest, FeedbackToManyInputsKeepsThemApart) {
  test.node("policy", "recurrent.onnx", {port("x"), port("h_in")}, {port("y"), port("h_out")})
      .feedback("policy/h_out", "policy/x")
      .feedback("policy/h_out", "policy/h_in")
      .output("policy/y")
      .initial("policy/x", row({8, 8, 8, 8}));
  InferenceManager manager(test.write());
  EXPECT_THAT(floats(manager.run_policy({}).at("policy/y")), Each(8));
  EXPECT_THAT(floats(manager.run_policy({}).at("policy/y")), Each(8));
  manager.set_input_value("policy", "h", row({2, 2, 2, 2}).view());
  EXPECT_THAT(floats(manager.run_policy({}).at("policy/y")), Each(6));
  EXPECT_THAT(floats(manager.run_policy({}).at("policy/y")), Each(6));
}

// Returns the sum of the output of `pre` in this tick and in the previous one, although `pre` has
// already run.
void add_sum_with_the_tick_before(TestBundle& test) {
  test.node("pre", "affine.onnx", {port("x")}, {port("y")})
      .node("post", "clamp_sum.onnx", {port("a"), port("b")}, {port("y")})
      .wire("pre/y", "post/a")
      .feedback("pre/y", "post/b")
      .input("pre/x")
      .output("post/y")
      .initial("post/b", row({0.5f, 0.5f, 0.5f, 0.5f}));
}

TEST_F(InferenceManagerTest, ANodeReadsTheTickBeforeOfOneThatHasRunAlready) {
  add_sum_with_the_tick_before(test);
  const auto yaml = test.write();
  const auto folder = test.folder() / "one";
  const Bundle one = merge_bundle(yaml, folder);
  for (const auto& [file, prefix, merge] :
       {std::tuple(yaml, "", Merge::kOff), std::tuple(yaml, "", Merge::kAuto),
        std::tuple(one.file, "one", Merge::kAuto)}) {
    InferenceManager manager(file, {.merge = merge});
    const bool merged = *prefix != 0;
    const auto tick = [&](float obs) {
      const TensorMap in = {{merged ? "one/pre.x" : "pre/x", row({obs, obs, obs, obs})}};
      return floats(manager.run_policy(in).at(merged ? "one/post.y" : "post/y"));
    };
    EXPECT_THAT(tick(-0.6f), Each(FloatEq(0.3f)));  // -0.2 + 0.5
    EXPECT_THAT(tick(-0.7f), Each(FloatEq(-0.6f)));
    const TensorMap state = manager.state();
    EXPECT_THAT(tick(-0.3f), Each(FloatEq(0.0f)));
    EXPECT_THAT(tick(-0.5f), Each(FloatEq(0.4f)));
    manager.set_state(state);
    EXPECT_THAT(tick(-0.5f), Each(FloatEq(-0.4f)));
    InferenceManager restored(file, {.merge = merge});
    restored.set_state(state);
    const TensorMap in = {{merged ? "one/pre.x" : "pre/x", row({0, 0, 0, 0})}};
    EXPECT_THAT(floats(restored.run_policy(in).at(merged ? "one/post.y" : "post/y")),
                Each(FloatEq(0.6f)));
    manager.reset();
    EXPECT_THAT(tick(-0.6f), Each(FloatEq(0.3f)));
  }
}

TEST_F(InferenceManagerTest, OutputsAreTheCallersToKeep) {
  add_policy(test);
  InferenceManager manager(test.write());
  const TensorMap first = manager.run_policy({{"pre/x", row({0, 0, 0, 0})}});
  const std::vector<float> before = floats(first.at("post/y"));
  manager.run_policy({{"pre/x", row({-9, -9, -9, -9})}});
  manager.reset();
  EXPECT_EQ(floats(first.at("post/y")), before);
}

#ifdef LEAPP_TEST_LIBRARIES
TEST_F(InferenceManagerTest, TorchScriptReadsTheTickBeforeOfANodeThatHasRunAlready) {
  test.node("pre", "affine_translated.pt", {port("x")}, {port("y")})
      .node("policy", "recurrent_translated.pt", {port("x"), port("h")}, {port("y"), port("h")})
      .feedback("pre/y", "policy/x")
      .feedback("policy/h", "policy/h")
      .input("pre/x")
      .output("pre/y")
      .output("policy/y");
  const auto yaml = test.write();
  for (const Merge merge : {Merge::kOff, Merge::kAuto}) {
    for (const bool translate : {false, true}) {
      InferenceManager manager(yaml, {.engine = {.translate = translate}, .merge = merge});
      float before = 0;
      float h = 0;
      for (int tick = 0; tick < 6; ++tick) {
        const float obs = 0.25f * static_cast<float>(tick);
        const TensorMap outputs = manager.run_policy({{"pre/x", row({obs, obs, obs, obs})}});
        const float y = before + h;
        ASSERT_THAT(floats(outputs.at("policy/y")), Each(FloatEq(y))) << tick;
        h = y / 2;
        before = 2 * obs + 1;
        ASSERT_THAT(floats(outputs.at("pre/y")), Each(FloatEq(before))) << tick;
      }
    }
  }
}

TEST_F(InferenceManagerTest, TorchScriptAndOnnxNodesShareWires) {
  test.node("pre", "affine.pt", {port("x")}, {port("y")})
      .node("policy", "recurrent.pt", {port("x"), port("h")}, {port("y"), port("h")})
      .node("post", "clamp_sum.onnx", {port("a"), port("b")}, {port("y")})
      .wire("pre/y", "policy/x")
      .wire("policy/y", "post/a")
      .feedback("policy/h", "policy/h")
      .feedback("post/y", "post/b")
      .input("pre/x")
      .output("post/y");
  InferenceManager manager(test.write());
  PolicyReference reference;
  for (int tick = 0; tick < 10; ++tick) {
    const float obs = 0.3f - 0.2f * static_cast<float>(tick % 7);
    const TensorMap outputs = manager.run_policy({{"pre/x", row({obs, obs, obs, obs})}});
    ASSERT_THAT(floats(outputs.at("post/y")), Each(FloatEq(reference.tick(obs)))) << tick;
  }
}
#endif

TEST_F(InferenceManagerTest, AManagerThatWasMovedFromSaysSo) {
  test.node("n", "affine.onnx", {port("x")}, {port("y")}).input("n/x").output("n/y");
  InferenceManager manager(test.write());
  const InputPort x = manager.input_port("n/x");
  InferenceManager other = std::move(manager);
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_EQ(manager.tick().failure().code(), Code::kUsage);
  EXPECT_EQ(manager.set_input(x, std::vector<float>(4)).failure().code(), Code::kUsage);
  EXPECT_EQ(manager.touch(x).failure().code(), Code::kUsage);
  EXPECT_EQ(manager.clear_inputs().failure().code(), Code::kUsage);
  EXPECT_EQ(manager.output<float>(OutputPort()).failure().code(), Code::kUsage);
  EXPECT_TRUE(manager.inputs().empty());
  EXPECT_TRUE(manager.bundle().models.empty());
  EXPECT_EQ(manager.input(x).data, nullptr);
  EXPECT_THROW(manager.run_policy({}), Error);
  EXPECT_THROW(manager.prepare(), Error);
  EXPECT_THROW(static_cast<void>(manager.device()), Error);
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_TRUE(other.set_input(x, std::vector<float>(4)));
}

TEST_F(InferenceManagerTest, DescribesItsSteps) {
  add_policy(test);
  InferenceManager manager(test.write(), {.merge = Merge::kOff});
  const std::vector<std::string> lines = manager.description();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[1], HasSubstr("policy: ONNX Runtime"));
}

TEST_F(InferenceManagerTest, AThousandNodesRun) {
  const int nodes = 1000;
  for (int i = 0; i < nodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    test.node(name, "clamp_sum.onnx", {port("a"), port("b")}, {port("y")});
    test.feedback(name + "/y", name + "/b");
    if (i == 0) {
      test.input("n0/a");
    } else {
      test.wire("n" + std::to_string(i - 1) + "/y", name + "/a");
    }
  }
  test.output("n" + std::to_string(nodes - 1) + "/y");
  InferenceManager manager(test.write());
  const TensorMap in = {{"n0/a", row({0.1f, 0.2f, 0.3f, 0.4f})}};
  EXPECT_THAT(floats(manager.run_policy(in).begin()->second), ElementsAre(0.1f, 0.2f, 0.3f, 0.4f));
}

}  // namespace
}  // namespace leapp
