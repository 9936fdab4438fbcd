#include "runtime/merge.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/log.h"
#include "leapp/inference_manager.h"
#include "leapp/tools/merge.h"
#include "onnx/reader.h"
#include "runtime/merge_graphs.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatEq;
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

onnx::ValueInfo named(const std::string& name) {
  onnx::ValueInfo info;
  info.name = name;
  return info;
}

onnx::Node op(const std::string& type, std::vector<std::string> inputs,
              std::vector<std::string> outputs) {
  onnx::Node node;
  node.op_type = type;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  return node;
}

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

TEST_F(MergeTest, MergedGraphGivesTheSame) {
  add_policy(test);
  const auto yaml = test.write();
  InferenceManager merged(yaml);
  InferenceManager separate(yaml, {.merge = Merge::kOff});
  ASSERT_THAT(merged.description(), SizeIs(1));
  EXPECT_THAT(merged.description()[0], HasSubstr("pre+policy+post: ONNX Runtime"));
  for (int tick = 0; tick < 20; ++tick) {
    const float obs = std::sin(static_cast<float>(tick)) - 0.5f;
    const TensorMap in = {{"pre/x", row({obs, obs + 1, -obs, 0})}};
    ASSERT_EQ(merged.run_policy(in), separate.run_policy(in));
    ASSERT_EQ(merged.state(), separate.state());
  }
}

TEST_F(MergeTest, EveryPortCanStillBeRead) {
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

TEST_F(MergeTest, InnerPortsAreThoseOfTheLastTick) {
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

TEST_F(MergeTest, ReadingAnInnerPortChangesNothing) {
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

TEST_F(MergeTest, ModelsOfOtherOpsetsRunOneByOneAndTheLogSaysWhy) {
  // The YAML states opset 20 for both, but one file has 17.
  test.node("a", "affine.onnx", {port("x")}, {port("y")})
      .node("b", "affine_opset17.onnx", {port("x")}, {port("y")})
      .wire("a/y", "b/x")
      .input("a/x")
      .output("b/y")
      .merged({"a", "b"});
  std::string logged;
  const LogSink former = set_log_sink(
      [&](LogLevel, std::string_view message) { logged += std::string(message) + "\n"; });
  InferenceManager manager(test.write());
  set_log_sink(former);
  EXPECT_THAT(logged, HasSubstr("nodes a+b run one by one: 'b' uses different operator sets"));
  EXPECT_THAT(manager.description(), SizeIs(2));
  EXPECT_THAT(floats(manager.run_policy({{"a/x", row({0, 1, 2, 3})}}).at("b/y")),
              ElementsAre(3, 7, 11, 15));
}

TEST_F(MergeTest, ValuesOfEqualNameStayApart) {
  // Both files name their inner value "d", their input "x" and their weights "one" and "two".
  test.node("a", "affine.onnx", {port("x")}, {port("y")})
      .node("b", "affine.onnx", {port("x")}, {port("y")})
      .wire("a/y", "b/x")
      .input("a/x")
      .output("b/y");
  const Plan plan = make_plan(test.bundle(), {{0, 1}});
  const onnx::Model model = onnx::read_model(model_file("affine.onnx"));
  const onnx::Model merged = merge_graphs(
      test.bundle(), {{&test.bundle().models[0], &model}, {&test.bundle().models[1], &model}},
      plan.steps[0].model);
  std::vector<std::string> outputs;
  for (const onnx::Node& node : merged.graph.nodes) outputs.push_back(node.outputs[0]);
  EXPECT_THAT(outputs, ElementsAre("d", "a/y", "d_1", "b/y"));
  EXPECT_EQ(merged.graph.nodes[2].inputs[0], "a/y");
  EXPECT_EQ(merged.graph.initializers.size(), 4u);
}

TEST_F(MergeTest, AnOutputThatIsAWeightGetsAValueOfItsOwn) {
  Model node;
  node.name = "n";
  node.outputs = {port("y")};
  onnx::Model model;
  model.opsets = {{"", 20}};
  model.graph.outputs.push_back(named("y"));
  model.graph.initializers.emplace_back().name = "y";
  Model signature;
  signature.outputs = {port("n/y")};
  const onnx::Model merged = merge_graphs({}, {{&node, &model}}, signature);
  ASSERT_THAT(merged.graph.nodes, SizeIs(1));
  EXPECT_EQ(merged.graph.nodes[0].op_type, "Identity");
  EXPECT_THAT(merged.graph.nodes[0].outputs, ElementsAre("n/y"));
  EXPECT_EQ(merged.graph.nodes[0].inputs[0], merged.graph.initializers[0].name);
}

TEST_F(MergeTest, BodiesOfControlFlowAreRenamedToo) {
  onnx::Graph body;
  body.nodes.push_back(op("Add", {"outer", "x"}, {"inner"}));
  body.outputs.push_back(named("inner"));
  onnx::Model model;
  model.opsets = {{"", 20}};
  model.graph.inputs.push_back(named("x"));
  model.graph.outputs.push_back(named("y"));
  model.graph.nodes.push_back(op("Neg", {"x"}, {"outer"}));
  model.graph.nodes.push_back(op("If", {"outer"}, {"y"}));
  onnx::Attribute& then_branch = model.graph.nodes.back().attributes.emplace_back();
  then_branch.value = std::make_shared<const onnx::Graph>(body);
  Model first;
  first.name = "a";
  first.inputs = {port("x")};
  first.outputs = {port("y")};
  Model second = first;
  second.name = "b";
  Bundle bundle;
  bundle.models = {first, second};
  bundle.pipeline.data_flow = {{{"a", "y"}, {{"b", "x"}}}};
  Model signature;
  signature.inputs = {port("a/x")};
  signature.outputs = {port("b/y")};
  const onnx::Model merged = merge_graphs(bundle, {{&first, &model}, {&second, &model}}, signature);
  const auto& branch =
      *std::get<std::shared_ptr<const onnx::Graph>>(merged.graph.nodes[3].attributes[0].value);
  EXPECT_THAT(branch.nodes[0].inputs, ElementsAre("outer_1", "a/y"));
  EXPECT_THAT(branch.nodes[0].outputs, ElementsAre("inner_1"));
  EXPECT_EQ(branch.outputs[0].name, "inner_1");
}

TEST_F(MergeTest, ModelsWithPartsThatCannotBeRenamedAreRecognised) {
  onnx::Model model;
  EXPECT_THAT(why_not_mergeable(model), IsEmpty());
  model.has_functions = true;
  EXPECT_EQ(why_not_mergeable(model), "it has functions of its own");
  model.has_functions = false;
  model.graph.nodes.push_back(op("X", {}, {}));
  model.graph.nodes.back().attributes.emplace_back().unread = "??";
  EXPECT_EQ(why_not_mergeable(model), "it has parts that only ONNX Runtime reads");
}

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
