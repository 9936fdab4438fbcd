// Joined graphs: the names of their values, and models that cannot be joined.
#include "runtime/merge_graphs.h"

#include <gmock/gmock.h>

#include "leapp/inference_manager.h"
#include "onnx/reader.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace leapp::testing;

class MergeGraphsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { find_libraries(); }
  TestBundle test;
};

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

TEST_F(MergeGraphsTest, ValuesOfEqualNameStayApart) {
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

TEST_F(MergeGraphsTest, AnOutputThatIsAWeightGetsAValueOfItsOwn) {
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

TEST_F(MergeGraphsTest, BodiesOfControlFlowAreRenamedToo) {
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

TEST_F(MergeGraphsTest, ModelsWithPartsThatCannotBeRenamedAreRecognised) {
  onnx::Model model;
  EXPECT_THAT(why_not_mergeable(model), IsEmpty());
  model.has_functions = true;
  EXPECT_EQ(why_not_mergeable(model), "it has functions of its own");
  model.has_functions = false;
  model.graph.nodes.push_back(op("X", {}, {}));
  model.graph.nodes.back().attributes.emplace_back().unread = "??";
  EXPECT_EQ(why_not_mergeable(model), "it has parts that only ONNX Runtime reads");
}

}  // namespace
}  // namespace leapp
