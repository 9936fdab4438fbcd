#include "session/record/node.h"

#include <gtest/gtest.h>

namespace leapp::session {
namespace {

NodePort port(const std::string& name) {
  NodePort made;
  made.name = name;
  return made;
}

TEST(NodeTest, APortIsFoundByItsName) {
  const std::vector<NodePort> ports = {port("a"), port("b")};
  EXPECT_EQ(find_port(ports, "a"), &ports[0]);
  EXPECT_EQ(find_port(ports, "b"), &ports[1]);
  EXPECT_EQ(find_port(ports, "c"), nullptr);
  EXPECT_EQ(find_port({}, "a"), nullptr);
}

TEST(NodeTest, ANodeIsFoundByItsIdAmongSome) {
  Node three;
  three.id = 3;
  Node one;
  one.id = 1;
  const Node* nodes[] = {&three, &one};
  EXPECT_EQ(find_node(nodes, 1), &one);
  EXPECT_EQ(find_node(nodes, 3), &three);
  EXPECT_EQ(find_node(nodes, 0), nullptr);
  EXPECT_EQ(find_node({}, 1), nullptr);
}

TEST(NodeTest, ItIsCompleteAfterItsFirstPass) {
  Node node;
  EXPECT_FALSE(node.complete());
  node.completed = 1;
  EXPECT_TRUE(node.complete());
}

TEST(NodeTest, WhatIsSaidOfAnOutputWithoutInputs) {
  EXPECT_EQ(not_traced_text("policy", "y"),
            "outputs of node 'policy' are non-traced tensors: 'y' does not depend on the node's "
            "inputs. Compute it from the result of input_tensors(), or declare a constant as a "
            "static output.");
}

}  // namespace
}  // namespace leapp::session
