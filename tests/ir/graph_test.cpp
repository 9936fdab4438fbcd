#include "ir/graph.h"

#include <gtest/gtest.h>

#include "graph_builder.h"
#include "leapp/error.h"

namespace leapp::ir {
namespace {

using testing::add_constant;
using testing::add_op;
using testing::kPair;
using testing::op_of;

TEST(GraphTest, QualifiedNameLeavesOutAnEmptyOverload) {
  Signature plain;
  plain.name = "aten::relu";
  EXPECT_EQ(plain.qualified_name(), "aten::relu");
  plain.overload = "out";
  EXPECT_EQ(plain.qualified_name(), "aten::relu.out");
}

TEST(GraphTest, ALocationNamesTheFunctionWhereItIsKnown) {
  EXPECT_EQ(SourceLocation{}.to_string(), "");
  EXPECT_EQ((SourceLocation{"policy.py", 4, ""}).to_string(), "policy.py:4");
  EXPECT_EQ((SourceLocation{"policy.py", 4, "step"}).to_string(), "policy.py:4 in step");
}

TEST(GraphTest, AValueKnowsWhereItComesFrom) {
  Graph graph;
  graph.add_input("x", kPair);
  const ValueId h = graph.add_input("h", kPair);
  const ValueId w = add_constant(graph, "w", {1, 2});
  add_op(graph, "aten::neg", {h}, kPair);
  const ValueId y = add_op(graph, "aten::mul", {h, w}, kPair);
  const struct {
    ValueId id;
    ValueKind kind;
    std::int32_t index;
  } table[] = {{h, ValueKind::kInput, 1}, {w, ValueKind::kConstant, 0}, {y, ValueKind::kResult, 1}};
  for (const auto& line : table) {
    EXPECT_EQ(graph.value(line.id).kind, line.kind) << line.id;
    EXPECT_EQ(graph.value(line.id).index, line.index) << line.id;
  }
  EXPECT_EQ(graph.blob(w).as<float>()[1], 2);
  EXPECT_THROW(graph.blob(y), Error);
}

TEST(GraphTest, AnArgumentIsFoundByItsName) {
  const Op op = op_of("aten::sum(self, dim)", {ValueRef{0}, std::int64_t{1}});
  EXPECT_EQ(op.argument("dim"), Argument(std::int64_t{1}));
  EXPECT_FALSE(op.has("keepdim"));
  EXPECT_THROW(op.argument("keepdim"), Error);
}

TEST(GraphTest, VisitsTensorsInArgumentsAndResults) {
  Argument list = std::vector<ValueRef>{{3}, {kNoValue}, {4}};
  std::vector<ValueId> seen;
  for_each_value(list, [&](ValueId id) { seen.push_back(id); });
  EXPECT_EQ(seen, (std::vector<ValueId>{3, 4}));
  for_each_ref(list, [](ValueRef& ref) { ref.id = 7; });
  EXPECT_EQ(list, Argument(std::vector<ValueRef>{{7}, {7}, {7}}));
  Op op = op_of("aten::unbind()", {});
  op.results = {{true, {5, kNoValue}}, {false, {6}}};
  seen.clear();
  for_each_result(op, [&](ValueId id) { seen.push_back(id); });
  EXPECT_EQ(seen, (std::vector<ValueId>{5, 6}));
}

}  // namespace
}  // namespace leapp::ir
