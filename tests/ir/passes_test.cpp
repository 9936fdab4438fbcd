#include "ir/passes.h"

#include <gtest/gtest.h>

#include "graph_builder.h"

namespace leapp::ir {
namespace {

using testing::add_constant;
using testing::add_op;
using testing::kPair;
using testing::names;

TEST(PassesTest, DeadCodeGoesWithEverythingOnlyItNeeded) {
  Graph graph;
  const ValueId x = graph.add_input("x", kPair);
  const ValueId unused = add_op(graph, "aten::exp", {x}, kPair);
  add_op(graph, "aten::log", {unused}, kPair);
  graph.add_output("y", add_op(graph, "aten::neg", {x}, kPair));
  remove_dead_code(graph);
  EXPECT_EQ(names(graph.ops()), std::vector<std::string>{"neg"});
  verify(graph);
}

TEST(PassesTest, WhatRootsNeedIsEverythingBehindThem) {
  Graph graph;
  const ValueId x = graph.add_input("x", kPair);
  const ValueId y = graph.add_input("y", kPair);
  const ValueId a = add_op(graph, "aten::exp", {x}, kPair);
  const ValueId b = add_op(graph, "aten::log", {a}, kPair);
  const ValueId c = add_op(graph, "aten::neg", {y}, kPair);
  const std::vector<bool> needed = needed_for(graph, {kNoValue, b});
  for (const ValueId id : {x, a, b}) EXPECT_TRUE(needed[static_cast<std::size_t>(id)]) << id;
  for (const ValueId id : {y, c}) EXPECT_FALSE(needed[static_cast<std::size_t>(id)]) << id;
}

TEST(PassesTest, ChainsOfIdentitiesVanish) {
  Graph graph;
  const ValueId x = graph.add_input("x", kPair);
  const ValueId copy = add_op(graph, "aten::clone", {x}, kPair);
  const ValueId detached = add_op(graph, "aten::detach", {copy}, kPair);
  graph.add_output("y", add_op(graph, "aten::neg", {detached}, kPair));
  remove_identities(graph);
  EXPECT_EQ(names(graph.ops()), std::vector<std::string>{"neg"});
  EXPECT_EQ(std::get<ValueRef>(graph.ops()[0].arguments[0]).id, x);
  verify(graph);
}

TEST(PassesTest, ACastThatChangesTheTypeStays) {
  Graph graph;
  const ValueId x = graph.add_input("x", kPair);
  graph.add_output("y", add_op(graph, "aten::_to_copy", {x}, {DType::kFloat64, {2}}));
  remove_identities(graph);
  EXPECT_EQ(names(graph.ops()), std::vector<std::string>{"_to_copy"});
}

TEST(PassesTest, EqualOpsBecomeOneAndSoDoTheirReaders) {
  Graph graph;
  const ValueId x = graph.add_input("x", kPair);
  const ValueId a = add_op(graph, "aten::exp", {x}, kPair);
  const ValueId b = add_op(graph, "aten::exp", {x}, kPair);
  const ValueId c = add_op(graph, "aten::neg", {a}, kPair);
  const ValueId d = add_op(graph, "aten::neg", {b}, kPair);
  graph.add_output("y", add_op(graph, "aten::add", {c, d}, kPair));
  merge_duplicates(graph);
  EXPECT_EQ(names(graph.ops()), (std::vector<std::string>{"exp", "neg", "add"}));
  verify(graph);
}

TEST(PassesTest, RandomOpsAreNeverMerged) {
  Graph graph;
  const ValueId x = graph.add_input("x", kPair);
  const ValueId a = add_op(graph, "aten::rand_like", {x}, kPair);
  const ValueId b = add_op(graph, "aten::rand_like", {x}, kPair);
  graph.add_output("y", add_op(graph, "aten::add", {a, b}, kPair));
  std::vector<Op> ops = graph.ops();
  ops[0].random = ops[1].random = true;
  graph.set_ops(std::move(ops));
  merge_duplicates(graph);
  EXPECT_EQ(graph.ops().size(), 3U);
}

TEST(PassesTest, EqualConstantsBecomeOne) {
  Graph graph;
  const ValueId x = graph.add_input("x", kPair);
  const ValueId a = add_constant(graph, "", {1, 2});
  const ValueId b = add_constant(graph, "", {1, 2});
  const ValueId c = add_constant(graph, "", {1, 3});
  const ValueId sum = add_op(graph, "aten::add", {x, a}, kPair);
  const ValueId product = add_op(graph, "aten::mul", {sum, b}, kPair);
  graph.add_output("y", add_op(graph, "aten::sub", {product, c}, kPair));
  merge_constants(graph);
  EXPECT_EQ(std::get<ValueRef>(graph.ops()[1].arguments[1]).id, a);
  EXPECT_EQ(std::get<ValueRef>(graph.ops()[2].arguments[1]).id, c);
}

TEST(PassesTest, OpsBelongToTheModuleOfTheirWeights) {
  Graph graph;
  const ValueId x = graph.add_input("x", kPair);
  const ValueId weight = add_constant(graph, "encoder.0.weight", {1, 2});
  const ValueId gain = add_constant(graph, "gain", {3, 4});
  const ValueId y = add_op(graph, "aten::mul", {x, weight}, kPair);
  graph.add_output("z", add_op(graph, "aten::mul", {y, gain}, kPair));
  name_modules(graph);
  EXPECT_EQ(graph.ops()[0].module_path, "encoder.0");
  EXPECT_EQ(graph.ops()[1].module_path, "");
  verify(graph);
}

}  // namespace
}  // namespace leapp::ir
