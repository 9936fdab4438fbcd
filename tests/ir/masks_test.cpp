#include "ir/masks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph_builder.h"

namespace leapp::ir {
namespace {

using testing::add_op;

const TensorType kFull{DType::kFloat32, {2, 3}};
const TensorType kMask{DType::kBool, {2, 3}};

std::vector<std::string> names(const Graph& graph) {
  std::vector<std::string> result;
  for (const Op& op : graph.ops()) result.push_back(op.signature->name);
  return result;
}

Op op_of(const char* name, const char* overload, std::vector<std::string> parameters,
         std::vector<Argument> arguments) {
  Signature made = *testing::signature(name, std::move(parameters));
  made.overload = overload;
  return {std::make_shared<const Signature>(std::move(made)), std::move(arguments), {}, {}, ""};
}

ValueId add(Graph& graph, Op op, const TensorType& type) {
  const ValueId result = graph.add_result(type);
  op.results.push_back({false, {result}});
  graph.append(std::move(op));
  return result;
}

ValueId select(Graph& graph, ValueId self, ValueId mask, const TensorType& type) {
  return add(graph,
             op_of("aten::index", "Tensor", {"self", "indices"},
                   {ValueRef{self}, std::vector<ValueRef>{{mask}}}),
             type);
}

ValueId put(Graph& graph, ValueId self, ValueId mask, ValueId values) {
  return add(graph,
             op_of("aten::index_put", "", {"self", "indices", "values", "accumulate"},
                   {ValueRef{self}, std::vector<ValueRef>{{mask}}, ValueRef{values}, false}),
             graph.type(self));
}

TEST(MasksTest, WhatIsPutBackIsChosenInTheEnd) {
  Graph graph;
  const ValueId x = graph.add_input("x", kFull);
  const ValueId mask = add_op(graph, "aten::isnan", {x}, kMask);
  const ValueId some = select(graph, x, mask, {DType::kFloat32, {4}});
  const ValueId changed = add_op(graph, "aten::tanh", {some}, {DType::kFloat32, {4}});
  graph.add_output("y", put(graph, x, mask, changed));
  spread_selections(graph);
  verify(graph);
  EXPECT_EQ(names(graph), (std::vector<std::string>{"aten::isnan", "aten::tanh", "aten::where"}));
  EXPECT_EQ(graph.type(graph.ops()[1].result()), kFull);
}

TEST(MasksTest, AMaskOfRowsIsGivenTheMissingDimension) {
  Graph graph;
  const ValueId x = graph.add_input("x", kFull);
  const ValueId rows = graph.add_input("rows", {DType::kBool, {2}});
  const ValueId some = select(graph, x, rows, {DType::kFloat32, {1, 3}});
  const ValueId changed = add_op(graph, "aten::neg", {some}, {DType::kFloat32, {1, 3}});
  graph.add_output("y", put(graph, x, rows, changed));
  spread_selections(graph);
  verify(graph);
  EXPECT_EQ(names(graph), (std::vector<std::string>{"aten::neg", "aten::reshape", "aten::where"}));
}

TEST(MasksTest, ASelectionOfAnotherMaskStays) {
  Graph graph;
  const ValueId x = graph.add_input("x", kFull);
  const ValueId one = graph.add_input("one", kMask);
  const ValueId other = graph.add_input("other", kMask);
  const ValueId some = select(graph, x, one, {DType::kFloat32, {4}});
  graph.add_output("y", put(graph, x, other, some));
  spread_selections(graph);
  EXPECT_EQ(names(graph), (std::vector<std::string>{"aten::index", "aten::index_put"}));
}

TEST(MasksTest, WhatMixesElementsStays) {
  Graph graph;
  const ValueId x = graph.add_input("x", kFull);
  const ValueId mask = graph.add_input("mask", kMask);
  const ValueId some = select(graph, x, mask, {DType::kFloat32, {4}});
  const ValueId sorted = add_op(graph, "aten::cumsum", {some}, {DType::kFloat32, {4}});
  graph.add_output("y", put(graph, x, mask, sorted));
  spread_selections(graph);
  EXPECT_EQ(names(graph),
            (std::vector<std::string>{"aten::index", "aten::cumsum", "aten::index_put"}));
}

TEST(MasksTest, AnOperandWithAnElementForEachSelectedOneStays) {
  Graph graph;
  const ValueId x = graph.add_input("x", kFull);
  const ValueId mask = graph.add_input("mask", kMask);
  const ValueId four = graph.add_input("four", {DType::kFloat32, {4}});
  const ValueId some = select(graph, x, mask, {DType::kFloat32, {4}});
  const ValueId changed = add_op(graph, "aten::add", {some, four}, {DType::kFloat32, {4}});
  graph.add_output("y", put(graph, x, mask, changed));
  spread_selections(graph);
  EXPECT_EQ(names(graph),
            (std::vector<std::string>{"aten::index", "aten::add", "aten::index_put"}));
}

ValueId linear(Graph& graph, ValueId input, const TensorType& type) {
  const ValueId weight = graph.add_input("weight", {DType::kFloat32, {2, 3}});
  return add(graph,
             op_of("aten::linear", "", {"input", "weight", "bias"},
                   {ValueRef{input}, ValueRef{weight}, std::monostate()}),
             type);
}

// rows of x through a layer, put into rows of out
void route(Graph& graph, Spread spread) {
  const ValueId x = graph.add_input("x", kFull);
  const ValueId out = graph.add_input("out", {DType::kFloat32, {2, 2}});
  const ValueId rows = graph.add_input("rows", {DType::kBool, {2}});
  const ValueId some = select(graph, x, rows, {DType::kFloat32, {1, 3}});
  const ValueId layer = linear(graph, some, {DType::kFloat32, {1, 2}});
  graph.add_output("y", put(graph, out, rows, layer));
  spread_selections(graph, spread);
  verify(graph);
}

TEST(MasksTest, ALayerWorksOnAllRowsWhereShapesHaveToBeFixed) {
  Graph graph;
  route(graph, Spread::kRows);
  EXPECT_EQ(names(graph),
            (std::vector<std::string>{"aten::linear", "aten::reshape", "aten::where"}));
  EXPECT_EQ(graph.type(graph.ops()[0].result()).shape, (Shape{2, 2}));
}

TEST(MasksTest, ALayerWorksOnTheSelectedRowsElsewhere) {
  Graph graph;
  route(graph, Spread::kElements);
  EXPECT_EQ(names(graph),
            (std::vector<std::string>{"aten::index", "aten::linear", "aten::index_put"}));
}

TEST(MasksTest, PlacesOfAMaskSelectAsTheMaskDoes) {
  Graph graph;
  const ValueId x = graph.add_input("x", kFull);
  const ValueId rows = graph.add_input("rows", {DType::kBool, {2}});
  const ValueId found =
      add(graph, op_of("aten::nonzero", "", {"self"}, {ValueRef{rows}}), {DType::kInt64, {1, 1}});
  const ValueId places =
      add(graph, op_of("aten::squeeze", "dim", {"self", "dim"}, {ValueRef{found}, std::int64_t{1}}),
          {DType::kInt64, {1}});
  const ValueId some = select(graph, x, places, {DType::kFloat32, {1, 3}});
  const ValueId changed = add_op(graph, "aten::neg", {some}, {DType::kFloat32, {1, 3}});
  graph.add_output("y", put(graph, x, places, changed));
  spread_selections(graph, Spread::kRows);
  verify(graph);
  EXPECT_EQ(names(graph), (std::vector<std::string>{"aten::neg", "aten::reshape", "aten::where"}));
}

// One row was selected now, so that what is made of it looks like a number for all.
TEST(MasksTest, WhatMayBeAsLargeAsASelectionIsNoNumber) {
  Graph graph;
  const ValueId x = graph.add_input("x", {DType::kFloat32, {2}});
  const ValueId mask = graph.add_input("mask", {DType::kBool, {2}});
  const TensorType one{DType::kFloat32, {1}};
  const ValueId some = select(graph, x, mask, one);
  const ValueId mixed = add_op(graph, "aten::cumsum", {some}, one);
  const ValueId product = add_op(graph, "aten::mul", {some, mixed}, one);
  graph.add_output("y", put(graph, x, mask, product));
  spread_selections(graph);
  EXPECT_EQ(names(graph), (std::vector<std::string>{"aten::index", "aten::cumsum", "aten::mul",
                                                    "aten::index_put"}));
}

// history[:, rows] = x[rows]
TEST(MasksTest, AMaskMayStandBehindOtherDimensions) {
  Graph graph;
  const ValueId x = graph.add_input("x", kFull);
  const ValueId history = graph.add_input("history", {DType::kFloat32, {4, 2, 3}});
  const ValueId rows = graph.add_input("rows", {DType::kBool, {2}});
  const ValueId some = select(graph, x, rows, {DType::kFloat32, {1, 3}});
  graph.add_output(
      "y",
      add(graph,
          op_of("aten::index_put", "", {"self", "indices", "values"},
                {ValueRef{history}, std::vector<ValueRef>{{kNoValue}, {rows}}, ValueRef{some}}),
          graph.type(history)));
  spread_selections(graph);
  verify(graph);
  EXPECT_EQ(names(graph), (std::vector<std::string>{"aten::reshape", "aten::where"}));
  EXPECT_EQ(graph.type(graph.ops()[0].result()).shape, (Shape{2, 1}));
}

TEST(MasksTest, TheSameAtPlacesIsPutByTheMask) {
  Graph graph;
  const ValueId x = graph.add_input("x", kFull);
  const ValueId rows = graph.add_input("rows", {DType::kBool, {2}});
  const ValueId zero = graph.add_input("zero", {DType::kFloat32, {}});
  const ValueId found =
      add(graph, op_of("aten::nonzero", "", {"self"}, {ValueRef{rows}}), {DType::kInt64, {0, 1}});
  const ValueId places = add(graph,
                             op_of("aten::flatten", "using_ints", {"self", "start_dim", "end_dim"},
                                   {ValueRef{found}, std::int64_t{0}, std::int64_t{-1}}),
                             {DType::kInt64, {0}});
  graph.add_output("y", put(graph, x, places, zero));
  spread_selections(graph, Spread::kRows);
  verify(graph);
  ASSERT_EQ(names(graph), (std::vector<std::string>{"aten::index_put"}));
  EXPECT_EQ(graph.ops()[0].argument("indices"), Argument(std::vector<ValueRef>{{rows}}));
}

TEST(MasksTest, OneOfEachRowIsPickedByItsIndex) {
  Graph graph;
  const ValueId x = graph.add_input("x", kFull);
  const ValueId index = graph.add_input("index", {DType::kInt64, {2}});
  const ValueId hot =
      add(graph,
          op_of("aten::one_hot", "", {"self", "num_classes"}, {ValueRef{index}, std::int64_t{3}}),
          {DType::kInt64, {2, 3}});
  const ValueId mask =
      add(graph, op_of("aten::gt", "Scalar", {"self", "other"}, {ValueRef{hot}, 0.5}), kMask);
  const ValueId some = select(graph, x, mask, {DType::kFloat32, {2}});
  Op stated = op_of("aten::reshape", "", {"self", "shape"}, {ValueRef{some}, Shape{2, 1}});
  stated.fixed_size = true;
  graph.add_output("y", add(graph, std::move(stated), {DType::kFloat32, {2, 1}}));
  spread_selections(graph);
  verify(graph);
  EXPECT_EQ(names(graph), (std::vector<std::string>{"aten::add", "aten::reshape",
                                                    "aten::index_select", "aten::reshape"}));
  EXPECT_FALSE(graph.ops().back().fixed_size);
}

TEST(MasksTest, AnOperatorThatStatesTheNumberIsGivenThatMany) {
  Graph graph;
  const ValueId x = graph.add_input("x", kFull);
  const ValueId mask = graph.add_input("mask", kMask);
  const ValueId some = select(graph, x, mask, {DType::kFloat32, {4}});
  Op stated = op_of("aten::reshape", "", {"self", "shape"}, {ValueRef{some}, Shape{2, 2}});
  stated.fixed_size = true;
  graph.add_output("y", add(graph, std::move(stated), {DType::kFloat32, {2, 2}}));
  spread_selections(graph, Spread::kRows);
  verify(graph);
  const std::vector<std::string> found = names(graph);
  EXPECT_EQ(std::count(found.begin(), found.end(), "aten::nonzero"), 1);
  EXPECT_EQ(std::count(found.begin(), found.end(), "aten::index"), 0);
}

TEST(MasksTest, AMeanCountsTheMask) {
  Graph graph;
  const ValueId x = graph.add_input("x", kFull);
  const ValueId mask = graph.add_input("mask", kMask);
  const ValueId some = select(graph, x, mask, {DType::kFloat32, {4}});
  graph.add_output(
      "y",
      add(graph, op_of("aten::mean", "", {"self", "dtype"}, {ValueRef{some}, std::monostate()}),
          {DType::kFloat32, {}}));
  spread_selections(graph);
  verify(graph);
  EXPECT_EQ(names(graph), (std::vector<std::string>{"aten::where", "aten::sum", "aten::sum",
                                                    "aten::div", "aten::div"}));
}

}  // namespace
}  // namespace leapp::ir
