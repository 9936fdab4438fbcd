#include "runtime/merge.h"

#include <gmock/gmock.h>

#include "leapp/inference_manager.h"
#include "leapp/tools/merge.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace leapp::testing;

class MergeTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { find_libraries(); }
  TestBundle test;
};

using Steps = std::vector<std::vector<std::size_t>>;

TEST_F(MergeTest, OnnxNodesThatFollowEachOtherShareAStep) {
  add_policy(test);
  EXPECT_EQ(propose_steps(test.bundle(), {}), Steps({{0, 1, 2}}));
  EXPECT_EQ(propose_steps(test.bundle(), {}, {1}), Steps({{0}, {1}, {2}}));
}

TEST_F(MergeTest, StatedGroupsAndNoOthersShareAStep) {
  add_policy(test);
  EXPECT_EQ(stated_steps(test.bundle(), {}), Steps({{0, 1, 2}}));
  test.bundle().pipeline.merged->at(0) = {"policy", "post"};
  EXPECT_EQ(stated_steps(test.bundle(), {}), Steps({{0}, {1, 2}}));
  EXPECT_EQ(stated_steps(test.bundle(), {.nodes = {{"post", {.threads = 2}}}}),
            Steps({{0}, {1}, {2}}));
  EXPECT_EQ(InferenceManager(test.write()).description().size(), 2U);
  test.bundle().pipeline.merged.emplace();
  EXPECT_EQ(InferenceManager(test.write()).description().size(), 3U);
  test.bundle().pipeline.merged.reset();  // and no golden ticks
  EXPECT_EQ(InferenceManager(test.write()).description().size(), 3U);
}

TEST_F(MergeTest, OtherEnginesComeBetween) {
  // onnx -> jit -> onnx, and an independent onnx node at the start.
  test.node("a", "affine.onnx", {port("x")}, {port("y")})
      .node("b", "affine.pt", {port("x")}, {port("y")})
      .node("c", "affine.onnx", {port("x")}, {port("y")})
      .node("d", "affine.onnx", {port("x")}, {port("y")})
      .wire("a/y", "b/x")
      .wire("b/y", "c/x")
      .input("a/x")
      .input("d/x")
      .output("c/y")
      .output("d/y");
  EXPECT_EQ(propose_steps(test.bundle(), {}), Steps({{0, 3}, {1}, {2}}));
}

TEST_F(MergeTest, NodesWithOtherOptionsOrOpsetsStayApart) {
  add_policy(test);
  EngineOptions two_threads;
  two_threads.threads = 2;
  EXPECT_EQ(propose_steps(test.bundle(), {.nodes = {{"post", two_threads}}}), Steps({{0, 1}, {2}}));
  test.bundle().models[0].opset_version = 17;
  EXPECT_EQ(propose_steps(test.bundle(), {}), Steps({{0}, {1, 2}}));
}

TEST_F(MergeTest, AnEngineOfTheUsersIsNotMerged) {
  add_policy(test);
  RuntimeOptions options;
  options.engines.add(
      "onnx", [](const Model&, const ModelFile&, const EngineOptions&) -> std::unique_ptr<Engine> {
        return nullptr;
      });
  EXPECT_THAT(propose_steps(test.bundle(), options), SizeIs(3));
}

#ifdef LEAPP_TEST_LIBRARIES
TEST_F(MergeTest, TorchScriptNodesMergeToo) {
  test.node("pre", "affine_translated.pt", {port("x")}, {port("y")})
      .node("policy", "recurrent_translated.pt", {port("x"), port("h")}, {port("y"), port("h")})
      .node("post", "returns_list_translated.pt", {port("x")},
            {port("twice"), port("square", {2, 2})})
      .wire("pre/y", "policy/x")
      .wire("policy/y", "post/x")
      .feedback("policy/h", "policy/h")
      .input("pre/x")
      .output("post/twice")
      .output("post/square")
      .merged({"pre", "policy", "post"});
  const auto yaml = test.write();
  InferenceManager merged(yaml, {.engine = {.translate = false}});
  InferenceManager separate(yaml, {.engine = {.translate = false}, .merge = Merge::kOff});
  InferenceManager translated(yaml);
  ASSERT_THAT(merged.description(), SizeIs(1));
  EXPECT_THAT(merged.description()[0], HasSubstr("pre+policy+post: TorchScript"));
  ASSERT_THAT(translated.description(), SizeIs(1));
  EXPECT_THAT(translated.description()[0], HasSubstr("translated from TorchScript"));
  for (int tick = 0; tick < 10; ++tick) {
    const TensorMap in = {{"pre/x", row({0.5f, -1, 2, 0})}};
    const TensorMap out = merged.run_policy(in);
    ASSERT_EQ(out, separate.run_policy(in));
    ASSERT_EQ(merged.state(), separate.state());
    ASSERT_EQ(merged.value("policy", "x"), separate.value("policy", "x"));
    ASSERT_EQ(translated.run_policy(in), out);  // sums and products of small numbers, which every
                                                // order rounds in the same way
    ASSERT_EQ(translated.value("policy", "x"), separate.value("policy", "x"));
  }
}

TEST_F(MergeTest, TorchScriptThatWritesItsInputsRunsAlone) {
  test.node("a", "affine.pt", {port("x")}, {port("y")})
      .node("b", "writes_input.pt", {port("x")}, {port("y")})
      .wire("a/y", "b/x")
      .input("a/x")
      .output("a/y")
      .output("b/y")
      .merged({"a", "b"});
  InferenceManager manager(test.write());
  EXPECT_THAT(manager.description(), SizeIs(2));
  const TensorMap out = manager.run_policy({{"a/x", row({0, 1, 2, 3})}});
  EXPECT_THAT(floats(out.at("a/y")), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(floats(out.at("b/y")), ElementsAre(2, 4, 6, 8));
}
#endif

TEST_F(MergeTest, IsolatedPartTurnsItsBorderIntoPorts) {
  add_policy(test);
  const Plan plan = make_plan(test.bundle(), {{0}, {1, 2}});
  const Bundle part = isolate(test.bundle(), plan.steps[1]);
  const Plan inner = make_plan(part, {{0}, {1}});
  EXPECT_THAT(inner.external_inputs, ElementsAre("policy/x", "policy/h_in", "post/b"));
  EXPECT_THAT(inner.external_outputs, ElementsAre("policy/h_out", "post/y"));
  EXPECT_THAT(inner.feedback_inputs, IsEmpty());
}

TEST_F(MergeTest, MergedBundleIsOneNodeThatGivesTheSame) {
  add_policy(test);
  test.initial("policy/h_in", row({4, 3, 2, 1}));
  test.bundle().models[0].inputs[0].semantics.kind = "state/joint/position";
  const auto yaml = test.write();
  const Bundle merged_bundle = merge_bundle(yaml, test.folder() / "one");
  ASSERT_THAT(merged_bundle.models, SizeIs(1));
  EXPECT_EQ(merged_bundle.models[0].name, "one");
  EXPECT_EQ(merged_bundle.models[0].inputs[0].semantics.kind, "state/joint/position");
  EXPECT_EQ(merged_bundle.file, test.folder() / "one" / "one.yaml");
  InferenceManager merged(merged_bundle.file);
  InferenceManager separate(yaml, {.merge = Merge::kOff});
  EXPECT_THAT(merged.inputs(), ElementsAre("one/pre.x"));
  EXPECT_THAT(merged.outputs(), ElementsAre("one/post.y"));
  EXPECT_THAT(merged.feedback_inputs(), ElementsAre("one/policy.h_in", "one/post.b"));
  for (int tick = 0; tick < 10; ++tick) {
    const Tensor obs = row({0.1f, -0.4f, -0.6f, 0.3f});
    ASSERT_EQ(merged.run_policy({{"one/pre.x", obs}}).at("one/post.y"),
              separate.run_policy({{"pre/x", obs}}).at("post/y"));
  }
}

TEST_F(MergeTest, ABundleOfOneNodeMergesToo) {
  test.node("policy", "recurrent.onnx", {port("x"), port("h_in")}, {port("y"), port("h_out")})
      .feedback("policy/h_out", "policy/h_in")
      .initial("policy/h_in", row({4, 3, 2, 1}))
      .input("policy/x")
      .output("policy/y");
  const auto yaml = test.write();
  const Bundle once = merge_bundle(yaml, test.folder() / "one");
  const Bundle twice = merge_bundle(once.file, test.folder() / "two");
  InferenceManager plain(yaml);
  InferenceManager one(once.file);
  InferenceManager two(twice.file);
  EXPECT_THAT(one.inputs(), ElementsAre("one/policy.x"));
  EXPECT_THAT(two.inputs(), ElementsAre("two/one.policy.x"));
  EXPECT_THAT(two.feedback_inputs(), ElementsAre("two/one.policy.h_in"));
  for (int tick = 0; tick < 5; ++tick) {
    const Tensor obs = row({0.1f, -0.4f, -0.6f, 0.3f});
    const Tensor expected = plain.run_policy({{"policy/x", obs}}).at("policy/y");
    ASSERT_EQ(one.run_policy({{"one/policy.x", obs}}).at("one/policy.y"), expected);
    ASSERT_EQ(two.run_policy({{"two/one.policy.x", obs}}).at("two/one.policy.y"), expected);
  }
}

TEST_F(MergeTest, WeightsInFilesBesideTheModelAreNotLeftBehind) {
  add_policy(test);
  Model& model = test.bundle().models[1];
  model.external_data = {*model.file};
  test.bundle().pipeline.merged.reset();
  const auto yaml = test.write();
  EXPECT_THAT(message_of([&] { merge_bundle(yaml, test.folder() / "one"); }),
              ::testing::AllOf(::testing::HasSubstr("policy"), ::testing::EndsWith("[LP620]")));
}

TEST_F(MergeTest, ABundleIsNotMergedIntoItsOwnFolder) {
  add_policy(test);
  const auto yaml = test.write();
  for (const auto& target : {test.folder(), test.folder() / ".", test.folder() / ""}) {
    EXPECT_THAT(message_of([&] { merge_bundle(yaml, target); }),
                HasSubstr("the directory that contains it, because it would be overwritten"));
  }
  EXPECT_NO_THROW(InferenceManager{yaml});
}

TEST_F(MergeTest, BundleThatCannotBeOneFileSaysWhy) {
  test.node("a", "affine.onnx", {port("x")}, {port("y")})
      .node("b", "affine.pt", {port("x")}, {port("y")})
      .wire("a/y", "b/x")
      .input("a/x")
      .output("b/y");
  const auto yaml = test.write();
  EXPECT_THAT(message_of([&] { merge_bundle(yaml, test.folder() / "one"); }),
              ::testing::AllOf(::testing::HasSubstr("b"), ::testing::EndsWith("[LP620]")));
  EXPECT_FALSE(std::filesystem::exists(test.folder() / "one"));
}

}  // namespace
}  // namespace leapp
