#include "compile/compiled_node.h"

#include "../session/tracing.h"
#include "hand_made.h"

namespace leapp::compile {
namespace {

using testing::make_node;
using testing::row;
using testing::run;

// An input x, an output y, a state h that is updated and a state k that is not.
Node with_states() {
  Node node = make_node(0, "n", {"x"}, {"y"});
  node.states = {testing::port("h"), testing::port("k")};
  for (int i = 0; i < 2; ++i) {
    run(node, {row(i)}, {row(10 + i)});
    node.passes.back().states = {
        {.name = "h", .initial = row(20 + i), .updated = row(30 + i)},
        {.name = "k", .initial = row(40 + i), .updated = {}},
    };
    node.passes.back().recording.inputs.push_back({"k"});
    node.passes.back().inputs.push_back(row(40 + i));
  }
  return node;
}

TEST(CompiledNodeTest, DescribesANodeAsItWasAnnotated) {
  const Node node = with_states();
  const CompiledNode made = describe_only(node);
  EXPECT_EQ(made.model.name, "n");
  EXPECT_FALSE(made.model.file);
  EXPECT_EQ(made.input_names, (std::vector<std::string>{"x", "h", "k"}));
  EXPECT_EQ(made.output_names, (std::vector<std::string>{"y", "h"}));
  EXPECT_EQ(made.model.inputs.at(1).shape, (Shape{1, 4}));
  ASSERT_EQ(made.state_wires.size(), 1U);
  EXPECT_EQ(made.state_wires[0].input, "h");
  EXPECT_EQ(made.state_wires[0].from, node.id);
  EXPECT_TRUE(made.state_wires[0].only_state);
}

TEST(CompiledNodeTest, StaticOutputsComeLast) {
  Node node = with_states();
  node.outputs.insert(node.outputs.begin(), testing::port("gain"));
  node.outputs.front().is_static = true;
  EXPECT_EQ(describe_only(node).output_names, (std::vector<std::string>{"y", "h", "gain"}));
}

class UnusedInputsTest : public leapp::testing::Tracing {};

TEST_F(UnusedInputsTest, AreThoseThatNothingDependsOn) {
  begin();
  at::Tensor memory = at::zeros({2});
  const auto given = annotate::input_tensors(
      "n", {{"x", at::ones({2})}, {"idle", at::ones({2})}, {"written", at::ones({2})}});
  const at::Tensor idle = given[1] * 2;
  memory.add_(given[2]);
  out("n", given[0] * 2);
  EXPECT_EQ(unused_inputs(node()), std::set<std::string>{"idle"});
  Node unrecorded = with_states();
  EXPECT_TRUE(unused_inputs(unrecorded).empty());
}

TEST(CompiledNodeTest, FindsWhatAPassTookInAndPutOut) {
  const Node node = with_states();
  const CompiledNode made = describe_only(node);
  EXPECT_TRUE(at::equal(made.input_value(1, "x"), row(1)));
  EXPECT_TRUE(at::equal(made.input_value(1, "h"), row(21)));
  EXPECT_TRUE(at::equal(made.input_value(0, "k"), row(40)));
  EXPECT_FALSE(made.input_value(0, "y").defined());
  EXPECT_TRUE(at::equal(made.output_value(1, "y"), row(11)));
  EXPECT_TRUE(at::equal(made.output_value(0, "h"), row(30)));
  EXPECT_FALSE(made.output_value(0, "k").defined());
}

TEST(CompiledNodeTest, KnowsTheAnnotatedNameOfARenamedPort) {
  const Node node = with_states();
  CompiledNode made = describe_only(node);
  made.model.inputs[1].name = "h_in";
  made.model.outputs[1].name = "h_out";
  EXPECT_EQ(made.input_name("h_in"), "h");
  EXPECT_EQ(made.output_name("h_out"), "h");
  EXPECT_EQ(made.input_name("x"), "x");
}

TEST(CompiledNodeTest, IsFoundByNumberOrName) {
  const Node a = make_node(0, "a", {}, {});
  const Node b = make_node(1, "b", {}, {});
  const std::vector<CompiledNode> nodes = {describe_only(b), describe_only(a)};
  EXPECT_EQ(find_node(nodes, a.id), &nodes[1]);
  EXPECT_EQ(find_node(nodes, "b"), &nodes[0]);
  EXPECT_EQ(find_node(nodes, NodeId{7}), nullptr);
  EXPECT_EQ(find_node(nodes, "c"), nullptr);
}

}  // namespace
}  // namespace leapp::compile
