#include "ir/first_tick.h"

#include <gtest/gtest.h>

#include "graph_builder.h"
#include "ir/passes.h"

namespace leapp::ir {
namespace {

using testing::add_constant;
using testing::add_op;
using testing::kPair;
using testing::names;

const TensorType kFlag{DType::kBool, {}};

/// A graph with the inputs x, h and the flag.
struct Tick {
  Graph graph;
  ValueId x = graph.add_input("x", kPair);
  ValueId h = graph.add_input("h", kPair);
  ValueId flag = graph.add_input("first", kFlag);
};

// Returns the operators of `rest` after it outputs the selection between the two versions.
std::vector<std::string> chosen_ops(Tick& rest, ValueId other, const Tick& first, ValueId one) {
  const auto chosen = choose_by_tick(rest.graph, first.graph, rest.flag, {{one, other}});
  rest.graph.add_output("y", chosen.front());
  remove_dead_code(rest.graph);
  verify(rest.graph);
  return names(rest.graph.ops());
}

TEST(FirstTickTest, WhatBothComputeIsNotChosen) {
  Tick first;
  Tick rest;
  const ValueId one = add_op(first.graph, "aten::exp", {first.x}, kPair);
  const ValueId other = add_op(rest.graph, "aten::exp", {rest.x}, kPair);
  EXPECT_EQ(chosen_ops(rest, other, first, one), std::vector<std::string>{"exp"});
}

TEST(FirstTickTest, DifferentOperatorsAreChosenBetween) {
  Tick first;
  Tick rest;
  const ValueId one = add_op(first.graph, "aten::exp", {first.x}, kPair);
  const ValueId other = add_op(rest.graph, "aten::log", {rest.h}, kPair);
  EXPECT_EQ(chosen_ops(rest, other, first, one),
            (std::vector<std::string>{"log", "exp", "where.self"}));
}

TEST(FirstTickTest, ANetworkBehindTheDifferenceRunsOnce) {
  Tick first;
  Tick rest;
  const auto network = [](Graph& graph, ValueId x) {
    const ValueId weight = add_constant(graph, "weight", {1, 2});
    return add_op(graph, "aten::tanh", {add_op(graph, "aten::mul", {x, weight}, kPair)}, kPair);
  };
  const ValueId one = network(first.graph, first.x);
  const ValueId smooth = add_op(rest.graph, "aten::add", {rest.x, rest.h}, kPair);
  const ValueId other = network(rest.graph, smooth);
  EXPECT_EQ(chosen_ops(rest, other, first, one),
            (std::vector<std::string>{"add", "where.self", "mul", "tanh"}));
  EXPECT_EQ(std::get<ValueRef>(rest.graph.ops()[1].arguments[1]).id, rest.x);
}

TEST(FirstTickTest, ConstantsOfOtherBytesAreChosenBetween) {
  Tick first;
  Tick rest;
  const ValueId one =
      add_op(first.graph, "aten::add", {first.x, add_constant(first.graph, "a", {0, 0})}, kPair);
  const ValueId other =
      add_op(rest.graph, "aten::add", {rest.x, add_constant(rest.graph, "a", {0, 1})}, kPair);
  EXPECT_EQ(chosen_ops(rest, other, first, one), (std::vector<std::string>{"where.self", "add"}));
}

TEST(FirstTickTest, OperatorsOnOtherShapesAreNotMadeOne) {
  const TensorType row{DType::kFloat32, {1, 2}};
  Tick first;
  Tick rest;
  const ValueId one = add_op(first.graph, "aten::sum", {first.x}, kPair);
  const ValueId wide = add_op(rest.graph, "aten::unsqueeze", {rest.x}, row);
  const ValueId other = add_op(rest.graph, "aten::sum", {wide}, kPair);
  EXPECT_EQ(chosen_ops(rest, other, first, one),
            (std::vector<std::string>{"unsqueeze", "sum", "sum", "where.self"}));
}

}  // namespace
}  // namespace leapp::ir
