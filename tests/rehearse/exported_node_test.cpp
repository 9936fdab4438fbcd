#include "rehearse/exported_node.h"

#include "../compile/hand_made.h"

namespace leapp::rehearse {
namespace {

using compile::describe_only;
using compile::testing::make_node;
using compile::testing::row;
using compile::testing::with_states;

TEST(ExportedNodeTest, FindsWhatAPassTookInAndPutOut) {
  const Node node = with_states();
  const ExportedNode made = describe_only(node);
  EXPECT_TRUE(at::equal(made.input_value(1, "x"), row(1)));
  EXPECT_TRUE(at::equal(made.input_value(1, "h"), row(21)));
  EXPECT_TRUE(at::equal(made.input_value(0, "k"), row(40)));
  EXPECT_FALSE(made.input_value(0, "y").defined());
  EXPECT_TRUE(at::equal(made.output_value(1, "y"), row(11)));
  EXPECT_TRUE(at::equal(made.output_value(0, "h"), row(30)));
  EXPECT_FALSE(made.output_value(0, "k").defined());
}

TEST(ExportedNodeTest, KnowsTheAnnotatedNameOfARenamedPort) {
  const Node node = with_states();
  ExportedNode made = describe_only(node);
  made.model.inputs[1].name = "h_in";
  made.model.outputs[1].name = "h_out";
  EXPECT_EQ(made.input_name("h_in"), "h");
  EXPECT_EQ(made.output_name("h_out"), "h");
  EXPECT_EQ(made.input_name("x"), "x");
}

TEST(ExportedNodeTest, IsFoundByNumberOrName) {
  const Node a = make_node(0, "a", {}, {});
  const Node b = make_node(1, "b", {}, {});
  const std::vector<ExportedNode> nodes = {describe_only(b), describe_only(a)};
  EXPECT_EQ(find_node(nodes, a.id), &nodes[1]);
  EXPECT_EQ(find_node(nodes, "b"), &nodes[0]);
  EXPECT_EQ(find_node(nodes, NodeId{7}), nullptr);
  EXPECT_EQ(find_node(nodes, "c"), nullptr);
}

}  // namespace
}  // namespace leapp::rehearse
