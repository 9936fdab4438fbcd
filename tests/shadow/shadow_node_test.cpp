#include "shadow/shadow_node.h"

#include <ATen/Functions.h>
#include <gmock/gmock.h>

namespace leapp::shadow {
namespace {

Bundle bundle_of_one() {
  Bundle bundle;
  Model model;
  model.name = "pi";
  model.inputs = {{"x", DType::kFloat32, {2}, {}}, {"h_in", DType::kFloat32, {1}, {}}};
  model.outputs = {{"y", DType::kFloat32, {2}, {}}, {"h_out", DType::kFloat32, {1}, {}}};
  bundle.models = {model};
  return bundle;
}

class ShadowNodeTest : public ::testing::Test {
 protected:
  Bundle bundle = bundle_of_one();
  NodeExecutor executor{bundle};
  ShadowNode node{bundle.models[0], executor, 0};
};

TEST_F(ShadowNodeTest, PortsHaveTheirAnnotatedNamesToo) {
  EXPECT_EQ(node.find_input("x"), 0U);
  EXPECT_EQ(node.find_input("h"), 1U);
  EXPECT_EQ(node.find_input("h_in"), 1U);
  EXPECT_EQ(node.find_output("h"), 1U);
  EXPECT_EQ(node.find_input("y"), std::nullopt);
}

TEST_F(ShadowNodeTest, AValueOfThePortIsCopied) {
  node.open();
  at::Tensor x = at::ones({2});
  node.give(0, x, ShadowNode::Given::kInput);
  x.fill_(9);
  EXPECT_EQ(node.input(0).values<float>()[1], 1);
  EXPECT_EQ(node.given[0], ShadowNode::Given::kInput);
  EXPECT_EQ(node.given[1], ShadowNode::Given::kNothing);
  EXPECT_FALSE(node.misfit);
}

TEST_F(ShadowNodeTest, TheFirstValueThatDoesNotFitIsKept) {
  node.open();
  node.give(0, at::ones({3}), ShadowNode::Given::kInput);
  node.give(1, at::ones({1}, at::kDouble), ShadowNode::Given::kState);
  ASSERT_TRUE(node.misfit);
  EXPECT_EQ(node.misfit->port, "x");
  EXPECT_EQ(node.misfit->tick, 1U);
  EXPECT_EQ(node.misfit->comparison.verdict, Comparison::Verdict::kShape);
  EXPECT_EQ(node.given[0], ShadowNode::Given::kNothing);
  node.open();
  EXPECT_FALSE(node.misfit);
}

TEST_F(ShadowNodeTest, APassThatWasNotEndedIsAbandoned) {
  node.open();
  EXPECT_EQ(node.report.abandoned, 0U);
  node.open();
  EXPECT_EQ(node.report.abandoned, 1U);
  node.open_again();  // a repeat of the same tick
  EXPECT_EQ(node.report.abandoned, 1U);
}

TEST_F(ShadowNodeTest, OutputsOfTheProgramAreCopied) {
  node.open();
  at::Tensor y = at::ones({2});
  node.expect_output(0, y);
  y.fill_(9);
  node.expect_output(1, at::full({1}, 5));
  ASSERT_EQ(node.expected().size(), 2U);
  EXPECT_EQ(node.expected()[0].first, 0U);
  EXPECT_EQ(node.expected()[0].second[0].item<float>(), 1);
  node.open();
  EXPECT_TRUE(node.expected().empty());
  node.expect_output(0, at::full({2}, 3));  // in the memory of the pass before
  EXPECT_EQ(node.expected()[0].second[1].item<float>(), 3);
}

}  // namespace
}  // namespace leapp::shadow
