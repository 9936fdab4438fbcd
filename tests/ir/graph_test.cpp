#include "ir/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph_builder.h"
#include "leapp/error.h"

namespace leapp::ir {
namespace {

using testing::add_constant;
using testing::add_op;
using ::testing::HasSubstr;

const TensorType kPair{DType::kFloat32, {2}};

TEST(GraphTest, PrintsOneLinePerOpWithTypesAndNames) {
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

TEST(GraphTest, QualifiedNameLeavesOutAnEmptyOverload) {
  Signature plain;
  plain.name = "aten::relu";
  EXPECT_EQ(plain.qualified_name(), "aten::relu");
  plain.overload = "out";
  EXPECT_EQ(plain.qualified_name(), "aten::relu.out");
}

TEST(GraphTest, VerifyAcceptsASoundGraph) {
  Graph graph;
  const ValueId x = graph.add_input("x", kPair);
  graph.add_output("y", add_op(graph, "aten::neg", {x}, kPair));
  EXPECT_NO_THROW(verify(graph));
}

TEST(GraphTest, VerifyNamesAValueReadTooEarly) {
  Graph graph;
  const ValueId later = graph.add_result(kPair);
  graph.add_output("y", add_op(graph, "aten::neg", {later}, kPair));
  try {
    verify(graph);
    FAIL() << "a value that nothing defines was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInternal);
    EXPECT_THAT(error.what(), HasSubstr("read before it is defined at aten::neg"));
  }
}

TEST(GraphTest, VerifyRejectsOutputsOfOneName) {
  Graph graph;
  const ValueId x = graph.add_input("x", kPair);
  graph.add_output("y", x);
  graph.add_output("y", x);
  EXPECT_THROW(verify(graph), Error);
}

}  // namespace
}  // namespace leapp::ir
