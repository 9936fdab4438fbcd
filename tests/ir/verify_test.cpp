// Tests of invalid graphs and their errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "graph_builder.h"
#include "ir/graph.h"
#include "leapp/error.h"

namespace leapp::ir {
namespace {

using testing::add;
using testing::add_constant;
using testing::add_op;
using ::testing::HasSubstr;
using testing::kPair;
using testing::op_of;

std::string finding(const Graph& graph) {
  try {
    verify(graph);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInternal);
    return error.what();
  }
  return "";
}

TEST(VerifyTest, AcceptsASoundGraph) {
  Graph graph;
  const ValueId x = graph.add_input("x", kPair);
  const ValueId w = add_constant(graph, "w", {1, 2});
  graph.add_output("y", add_op(graph, "aten::mul", {x, w}, kPair));
  graph.add_output("w", w);
  EXPECT_EQ(finding(graph), "");
}

TEST(VerifyTest, NamesTheFirstBrokenRule) {
  const struct {
    const char* finding;
    std::function<void(Graph&, ValueId)> breaks;
  } table[] = {
      {"value 1 is read before it is defined at aten::neg",
       [](Graph& graph, ValueId) { add_op(graph, "aten::neg", {graph.add_result(kPair)}, kPair); }},
      {"value 1 is read before it is defined",
       [](Graph& graph, ValueId) { graph.add_output("y", graph.add_result(kPair)); }},
      {"no such value at aten::neg",
       [](Graph& graph, ValueId) { add_op(graph, "aten::neg", {7}, kPair); }},
      {"two inputs called 'x'", [](Graph& graph, ValueId) { graph.add_input("x", kPair); }},
      {"two outputs called 'y'",
       [](Graph& graph, ValueId x) {
         graph.add_output("y", x);
         graph.add_output("y", x);
       }},
      {"wrong argument count at aten::neg",
       [](Graph& graph, ValueId) { add(graph, op_of("aten::neg(self)", {}), kPair); }},
      {"wrong result count at aten::neg",
       [](Graph& graph, ValueId) { graph.append(op_of("aten::neg()", {})); }},
      {"a result without a value at aten::neg",
       [](Graph& graph, ValueId) {
         Op op = op_of("aten::neg()", {});
         op.results = {{false, {}}};
         graph.append(std::move(op));
       }},
      {"a value defined twice at aten::neg",
       [](Graph& graph, ValueId x) {
         Op op = op_of("aten::neg()", {});
         op.results = {{false, {x}}};
         graph.append(std::move(op));
       }},
  };
  for (const auto& line : table) {
    Graph graph;
    line.breaks(graph, graph.add_input("x", kPair));
    EXPECT_THAT(finding(graph), HasSubstr(std::string("the graph is broken: ") + line.finding));
  }
}

}  // namespace
}  // namespace leapp::ir
