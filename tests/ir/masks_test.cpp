// Tests of following selections through a graph, and of the cases in which they must stay.
#include "ir/masks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "graph_builder.h"

namespace leapp::ir {
namespace {

using testing::add;
using testing::add_op;
using testing::index_op;
using testing::kFull;
using testing::kMask;
using testing::op_of;
using testing::put_op;

using Names = std::vector<std::string>;

const TensorType kFour{DType::kFloat32, {4}};
const TensorType kRow{DType::kFloat32, {1, 3}};

// A graph with an input x, two masks of its elements and one mask of its rows.
struct Masked {
  Graph graph;
  ValueId x = graph.add_input("x", kFull);
  ValueId mask = graph.add_input("mask", kMask);
  ValueId other = graph.add_input("other", kMask);
  ValueId rows = graph.add_input("rows", {DType::kBool, {2}});

  ValueId select(ValueId self, ValueId by, const TensorType& type) {
    return add(graph, index_op(self, {{by}}), type);
  }
  ValueId put(ValueId self, ValueId by, ValueId values) {
    return add(graph, put_op(self, {{by}}, values), graph.type(self));
  }
  // Returns the operators that remain for that output.
  Names spread(ValueId output, Spread how) {
    graph.add_output("y", output);
    spread_selections(graph, how);
    verify(graph);
    return testing::names(graph.ops());
  }
};

TEST(MasksTest, PointwiseOperatorsAreAppliedToAllElements) {
  Masked made;
  const ValueId some = made.select(made.x, made.mask, kFour);
  const ValueId changed = add_op(made.graph, "aten::tanh", {some}, kFour);
  const ValueId y = made.put(made.x, made.mask, changed);
  EXPECT_EQ(made.spread(y, Spread::kElements), (Names{"tanh", "where.self"}));
  EXPECT_EQ(made.graph.type(made.graph.ops()[0].result()), kFull);
}

TEST(MasksTest, WhatIsPutBackByAnotherMaskStays) {
  Masked made;
  const ValueId some = made.select(made.x, made.mask, kFour);
  const ValueId y = made.put(made.x, made.other, some);
  EXPECT_EQ(made.spread(y, Spread::kElements), (Names{"index.Tensor", "index_put"}));
}

TEST(MasksTest, SelectionsOfTwoMasksAreNotMixed) {
  Masked made;
  const ValueId some = made.select(made.x, made.mask, kFour);
  const ValueId others = made.select(made.x, made.other, kFour);
  const ValueId sum = add_op(made.graph, "aten::add", {some, others}, kFour);
  const ValueId y = made.put(made.x, made.mask, sum);
  EXPECT_EQ(made.spread(y, Spread::kElements),
            (Names{"index.Tensor", "index.Tensor", "add", "index_put"}));
}

TEST(MasksTest, WhatMixesElementsStays) {
  Masked made;
  const ValueId some = made.select(made.x, made.mask, kFour);
  const ValueId summed = add_op(made.graph, "aten::cumsum", {some}, kFour);
  const ValueId y = made.put(made.x, made.mask, summed);
  EXPECT_EQ(made.spread(y, Spread::kElements), (Names{"index.Tensor", "cumsum", "index_put"}));
}

// Operands that give the same result for each selected element.
TEST(MasksTest, OperandsOfAPointwiseOperator) {
  const Names element_wise = {"add", "where.self"};
  const Names stays = {"index.Tensor", "add", "index_put"};
  const struct {
    Shape operand;
    Names elements, rows;
  } table[] = {
      {{}, element_wise, element_wise},
      {{1}, {"reshape", "add", "where.self"}, {"reshape", "add", "where.self"}},
      {{4}, stays, stays},
  };
  for (const auto& line : table) {
    for (const Spread how : {Spread::kElements, Spread::kRows}) {
      Masked made;
      const ValueId operand = made.graph.add_input("operand", {DType::kFloat32, line.operand});
      const ValueId some = made.select(made.x, made.mask, kFour);
      const ValueId sum = add_op(made.graph, "aten::add", {some, operand}, kFour);
      const ValueId y = made.put(made.x, made.mask, sum);
      EXPECT_EQ(made.spread(y, how), how == Spread::kRows ? line.rows : line.elements)
          << to_string(line.operand);
    }
  }
}

// If flag has no dimensions, x[flag] has one dimension more than x.
TEST(MasksTest, AMaskWithoutDimensionsSelectsAllOrNothing) {
  Masked made;
  const TensorType one{DType::kFloat32, {1, 2, 3}};
  const ValueId flag = made.graph.add_input("flag", {DType::kBool, {}});
  const ValueId bias = made.graph.add_input("bias", {DType::kFloat32, {1, 1, 3}});
  const ValueId some = made.select(made.x, flag, one);
  const ValueId sum = add_op(made.graph, "aten::add", {some, bias}, one);
  const ValueId y = made.put(made.x, flag, sum);
  EXPECT_EQ(made.spread(y, Spread::kRows), (Names{"reshape", "add", "reshape", "where.self"}));
}

// Only one element was selected while tracing, so results look like single numbers.
TEST(MasksTest, WhatMayBeAsLargeAsASelectionIsNoNumber) {
  Masked made;
  const TensorType one{DType::kFloat32, {1}};
  const ValueId some = made.select(made.x, made.mask, one);
  const ValueId opaque = add_op(made.graph, "aten::cumsum", {some}, one);
  const ValueId product = add_op(made.graph, "aten::mul", {some, opaque}, one);
  const ValueId y = made.put(made.x, made.mask, product);
  EXPECT_EQ(made.spread(y, Spread::kElements),
            (Names{"index.Tensor", "cumsum", "mul", "index_put"}));
}

TEST(MasksTest, ALayerWorksOnAllRowsOnlyWhereShapesHaveToBeStatic) {
  const struct {
    Spread how;
    Names left;
  } table[] = {{Spread::kRows, {"linear", "reshape", "where.self"}},
               {Spread::kElements, {"index.Tensor", "linear", "index_put"}}};
  for (const auto& line : table) {
    Masked made;
    const ValueId weight = made.graph.add_input("weight", {DType::kFloat32, {2, 3}});
    const ValueId out = made.graph.add_input("out", {DType::kFloat32, {2, 2}});
    const ValueId some = made.select(made.x, made.rows, kRow);
    const ValueId layer = add(made.graph,
                              op_of("aten::linear(input, weight, bias)",
                                    {ValueRef{some}, ValueRef{weight}, std::monostate()}),
                              {DType::kFloat32, {1, 2}});
    EXPECT_EQ(made.spread(made.put(out, made.rows, layer), line.how), line.left);
  }
}

// Ways in which a program computes the indices at which a mask is true.
TEST(MasksTest, PositionsSelectAsTheMaskDoes) {
  const TensorType positions{DType::kInt64, {1}};
  const auto found = [](ValueId id) { return ValueRef{id}; };
  const struct {
    const char* form;
    std::function<Op(ValueId)> op;
  } table[] = {
      {"squeeze(1)",
       [&](ValueId id) {
         return op_of("aten::squeeze.dim(self, dim)", {found(id), std::int64_t{1}});
       }},
      {"squeeze()", [&](ValueId id) { return op_of("aten::squeeze(self)", {found(id)}); }},
      {"flatten()",
       [&](ValueId id) {
         return op_of("aten::flatten.using_ints(self, start_dim, end_dim)",
                      {found(id), std::int64_t{0}, std::int64_t{-1}});
       }},
      {"[:, 0]",
       [&](ValueId id) {
         return op_of("aten::select.int(self, dim, index)",
                      {found(id), std::int64_t{1}, std::int64_t{0}});
       }},
      {"view(-1)",
       [&](ValueId id) {
         return op_of("aten::view(self, size)", {found(id), Shape{-1}});
       }},
  };
  for (const auto& line : table) {
    Masked made;
    const ValueId nonzero = add(made.graph, op_of("aten::nonzero(self)", {ValueRef{made.rows}}),
                                {DType::kInt64, {1, 1}});
    const ValueId index = add(made.graph, line.op(nonzero), positions);
    const ValueId some = made.select(made.x, index, kRow);
    const ValueId changed = add_op(made.graph, "aten::neg", {some}, kRow);
    const ValueId y = made.put(made.x, index, changed);
    EXPECT_EQ(made.spread(y, Spread::kRows), (Names{"neg", "reshape", "where.self"})) << line.form;
  }
}

TEST(MasksTest, AMaskOfWhatAMaskSelectsIsBoth) {
  Masked made;
  const ValueId some = made.select(made.x, made.mask, kFour);
  const ValueId inner = add_op(made.graph, "aten::gt", {some}, {DType::kBool, {4}});
  const ValueId twice = made.select(some, inner, {DType::kFloat32, {2}});
  const ValueId y =
      add(made.graph, op_of("aten::sum(self)", {ValueRef{twice}}), {DType::kFloat32, {}});
  const Names left = made.spread(y, Spread::kElements);
  EXPECT_EQ(std::count(left.begin(), left.end(), "logical_and"), 1);
  EXPECT_EQ(std::count(left.begin(), left.end(), "index.Tensor"), 0);
}

TEST(MasksTest, AnOperatorSpecialisedToTheTracedNumberIsGivenThatMany) {
  Masked made;
  const ValueId some = made.select(made.x, made.mask, kFour);
  Op stated = op_of("aten::reshape(self, shape)", {ValueRef{some}, Shape{2, 2}});
  stated.fixed_size = true;
  const ValueId y = add(made.graph, std::move(stated), {DType::kFloat32, {2, 2}});
  const Names left = made.spread(y, Spread::kRows);
  EXPECT_EQ(std::count(left.begin(), left.end(), "nonzero"), 1);
  EXPECT_EQ(std::count(left.begin(), left.end(), "index.Tensor"), 0);
}

TEST(MasksTest, WhatAOneHotMaskSelectsHasAStaticShape) {
  Masked made;
  const ValueId index = made.graph.add_input("index", {DType::kInt64, {2}});
  const ValueId hot =
      add(made.graph, op_of("aten::one_hot(self, num_classes)", {ValueRef{index}, std::int64_t{3}}),
          {DType::kInt64, {2, 3}});
  const ValueId mask =
      add(made.graph, op_of("aten::gt.Scalar(self, other)", {ValueRef{hot}, 0.5}), kMask);
  const ValueId some = made.select(made.x, mask, {DType::kFloat32, {2}});
  Op stated = op_of("aten::reshape(self, shape)", {ValueRef{some}, Shape{2, 1}});
  stated.fixed_size = true;
  const ValueId y = add(made.graph, std::move(stated), {DType::kFloat32, {2, 1}});
  EXPECT_EQ(made.spread(y, Spread::kElements),
            (Names{"add.Tensor", "reshape", "index_select", "reshape"}));
  EXPECT_FALSE(made.graph.ops().back().fixed_size);
}

}  // namespace
}  // namespace leapp::ir
