// The text form of a graph.
#include <gtest/gtest.h>

#include "graph_builder.h"
#include "ir/graph.h"

namespace leapp::ir {
namespace {

using testing::add;
using testing::add_constant;
using testing::add_op;
using testing::kPair;
using testing::op_of;

TEST(TextTest, PrintsOneLinePerOpWithTypesAndNames) {
  Graph graph;
  const ValueId x = graph.add_input("obs", kPair);
  const ValueId w = add_constant(graph, "weight", {1, 2});
  graph.add_output("action", add_op(graph, "aten::mul", {x, w}, kPair));
  EXPECT_EQ(to_text(graph),
            "graph(%obs: float32[2]):\n"
            "  %2: float32[2] = aten::mul(x0=%obs, x1=@weight)\n"
            "  @weight: float32[2]\n"
            "  return action=%2\n");
}

TEST(TextTest, PrintsEachKindOfArgument) {
  const struct {
    Argument argument;
    const char* text;
  } table[] = {
      {std::monostate(), "None"},
      {ValueRef{}, "None"},
      {ValueRef{0}, "%x"},
      {std::vector<ValueRef>{{0}, {kNoValue}}, "[%x, None]"},
      {true, "True"},
      {std::int64_t{-3}, "-3"},
      {0.5, "0.5"},
      {std::complex<double>(1, 2), "1+2j"},
      {std::string("mean"), "\"mean\""},
      {DType::kInt64, "int64"},
      {Device{"cuda:0"}, "cuda:0"},
      {std::vector<std::int64_t>{1, 2}, "[1, 2]"},
      {std::vector<double>{0.5}, "[0.5]"},
      {std::vector<bool>{true, false}, "[True, False]"},
      {std::vector<std::string>{"a"}, "[\"a\"]"},
  };
  for (const auto& line : table) {
    Graph graph;
    graph.add_input("x", kPair);
    add(graph, op_of("aten::f.out(a)", {line.argument}), {DType::kFloat32, {}, "cuda:0"});
    EXPECT_EQ(to_text(graph), "graph(%x: float32[2]):\n  %1: float32[]@cuda:0 = aten::f.out(a=" +
                                  std::string(line.text) + ")\n  return \n");
  }
}

TEST(TextTest, PrintsListsOfResultsAndTheUsersLine) {
  Graph graph;
  const ValueId x = graph.add_input("x", kPair);
  Op op = op_of("aten::unbind.int(self)", {ValueRef{x}});
  op.results = {{true, {graph.add_result({DType::kFloat32, {}}), kNoValue}}};
  op.source = {"policy.py", 42, "forward"};
  graph.append(std::move(op));
  EXPECT_EQ(to_text(graph),
            "graph(%x: float32[2]):\n"
            "  [%1: float32[], None] = aten::unbind.int(self=%x)  # policy.py:42 in forward\n"
            "  return \n");
}

}  // namespace
}  // namespace leapp::ir
