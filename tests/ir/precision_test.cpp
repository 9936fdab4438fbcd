#include "ir/precision.h"

#include <gtest/gtest.h>

#include "graph_builder.h"

namespace leapp::ir {
namespace {

using testing::add_op;

const TensorType kSingle{DType::kFloat32, {2}};
const TensorType kHalf{DType::kFloat16, {2}};
const TensorType kBrain{DType::kBFloat16, {2}};

TEST(PrecisionTest, ACastHidesNoHalfPrecision) {
  Graph graph;
  const ValueId x = graph.add_input("x", kHalf);
  const ValueId y = add_op(graph, "aten::tanh", {x}, kHalf);
  graph.add_output("y", add_op(graph, "aten::_to_copy", {y}, kSingle));
  EXPECT_EQ(output_precisions(graph), (std::vector<DType>{DType::kFloat16}));
}

TEST(PrecisionTest, AnInputOfHalfPrecisionIsExact) {
  Graph graph;
  const ValueId x = graph.add_input("x", kHalf);
  const ValueId moved = add_op(graph, "aten::flip", {x}, kHalf);
  const ValueId single = add_op(graph, "aten::_to_copy", {moved}, kSingle);
  graph.add_output("y", add_op(graph, "aten::tanh", {single}, kSingle));
  graph.add_output("x", x);
  EXPECT_EQ(output_precisions(graph), (std::vector<DType>{DType::kFloat32, DType::kFloat16}));
}

TEST(PrecisionTest, TheCoarsestCounts) {
  Graph graph;
  const ValueId x = graph.add_input("x", kSingle);
  const ValueId brain = add_op(graph, "aten::_to_copy", {x}, kBrain);
  graph.add_output("y", add_op(graph, "aten::_to_copy", {brain}, kHalf));
  graph.add_output("n", add_op(graph, "aten::argmax", {brain}, {DType::kInt64, {}}));
  EXPECT_EQ(output_precisions(graph), (std::vector<DType>{DType::kBFloat16, DType::kBFloat16}));
}

}  // namespace
}  // namespace leapp::ir
