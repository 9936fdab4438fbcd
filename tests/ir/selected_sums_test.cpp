// Tests of rewriting reductions over selected elements, and of those that stay unchanged.
#include "ir/selected_sums.h"

#include <gtest/gtest.h>

#include <limits>

#include "graph_builder.h"

namespace leapp::ir {
namespace {

using testing::names;
using testing::op_of;
using testing::with_result;

using Names = std::vector<std::string>;
using Ints = std::vector<std::int64_t>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class SelectedSumsTest : public ::testing::Test {
 protected:
  // Returns x[rows] of a tensor of shape [2, 3].
  ValueId selected(DType dtype) {
    const auto name = [&] { return "in" + std::to_string(graph_.inputs().size()); };
    const ValueId full = graph_.add_input(name(), {dtype, {2, 3}});
    const ValueId mask = graph_.add_input(name(), {DType::kBool, {2}});
    const ValueId id = graph_.add_input(name(), {dtype, {1, 3}});
    selections_.add(id, {.mask = mask, .full = full});
    return id;
  }
  Op of_all(const char* name, DType dtype) {
    return op_of(std::string(name) + "(self)", {ValueRef{selected(dtype)}});
  }
  Op along(const char* name, Argument dim) {
    return op_of(std::string(name) + "(self, dim, keepdim)",
                 {ValueRef{selected(DType::kFloat32)}, std::move(dim), false});
  }
  // Returns the operations that replace the op; none if it stays.
  std::vector<Op> replaced(Op op, Spread spread) {
    op = with_result(graph_, std::move(op), {DType::kFloat32, {}});
    const bool done = replace_reduction(selections_, op, spread);
    std::vector<Op> ops = selections_.take_ops();
    EXPECT_EQ(done, !ops.empty());
    return ops;
  }

  Graph graph_;
  Selections selections_{graph_};
};

TEST_F(SelectedSumsTest, TheOthersCountAsNeutral) {
  const struct {
    const char* name;
    DType dtype;
    float neutral;
  } table[] = {
      {"aten::sum", DType::kFloat32, 0},
      {"aten::max", DType::kFloat32, -kInfinity},
      {"aten::min", DType::kFloat32, kInfinity},
  };
  for (const auto& line : table) {
    SCOPED_TRACE(line.name);
    const std::vector<Op> ops = replaced(of_all(line.name, line.dtype), Spread::kElements);
    ASSERT_EQ(names(ops), (Names{"reshape", "where.self", line.name + 6}));
    EXPECT_EQ(*graph_.blob(tensor_in(ops[1].argument("other"))).as<float>(), line.neutral);
  }
}

TEST_F(SelectedSumsTest, OnlyTypesWithANeutralElement) {
  const struct {
    const char* name;
    DType dtype;
    bool replaced;
  } table[] = {
      {"aten::any", DType::kBool, true},     {"aten::all", DType::kBool, true},
      {"aten::any", DType::kFloat32, false}, {"aten::sum", DType::kBool, true},
      {"aten::sum", DType::kInt64, true},    {"aten::sum", DType::kFloat16, false},
      {"aten::max", DType::kInt64, false},   {"aten::prod", DType::kFloat32, false},
  };
  for (const auto& line : table) {
    EXPECT_EQ(!replaced(of_all(line.name, line.dtype), Spread::kElements).empty(), line.replaced)
        << line.name << " of " << name_of(line.dtype);
  }
}

TEST_F(SelectedSumsTest, AlongDimensionsOnlyOverTheMaskAndWhereShapesHaveToBeStatic) {
  const Names none;
  const Names sum = {"reshape", "where.self", "sum.dim_IntList"};
  const struct {
    const char* call;
    Op op;
    Names rows;
  } table[] = {
      {"sum(0)", along("aten::sum.dim_IntList", Ints{0}), sum},
      {"sum(-2)", along("aten::sum.dim_IntList", Ints{-2}), sum},
      {"sum(1)", along("aten::sum.dim_IntList", Ints{1}), none},
      {"sum()", along("aten::sum.dim_IntList", Ints{}), sum},
      {"amax(0)", along("aten::amax", Ints{0}), {"reshape", "where.self", "amax"}},
  };
  for (const auto& line : table) {
    EXPECT_EQ(names(replaced(line.op, Spread::kElements)), none) << line.call;
    EXPECT_EQ(names(replaced(line.op, Spread::kRows)), line.rows) << line.call;
  }
}

TEST_F(SelectedSumsTest, AMeanIsDividedByTheMaskAndByTheElementsOfEachRow) {
  const struct {
    const char* call;
    Op op;
    const char* total;
    float each;
  } table[] = {
      {"mean()", of_all("aten::mean", DType::kFloat32), "sum", 3},
      {"mean(None)", along("aten::mean.dim", std::monostate()), "sum.dim_IntList", 3},
      {"mean(0)", along("aten::mean.dim", Ints{0}), "sum.dim_IntList", 1},
      {"mean(0, 1)", along("aten::mean.dim", Ints{0, 1}), "sum.dim_IntList", 3},
  };
  for (const auto& line : table) {
    SCOPED_TRACE(line.call);
    const std::vector<Op> ops = replaced(line.op, Spread::kRows);
    ASSERT_EQ(names(ops),
              (Names{"reshape", "where.self", line.total, "sum", "div.Tensor", "div.Tensor"}));
    EXPECT_EQ(*graph_.blob(tensor_in(ops[5].argument("other"))).as<float>(), line.each);
  }
}

TEST_F(SelectedSumsTest, AnotherTypeOfResultStays) {
  const Op op =
      op_of("aten::sum(self, dtype)", {ValueRef{selected(DType::kFloat32)}, DType::kFloat64});
  EXPECT_TRUE(replaced(op, Spread::kRows).empty());
}

}  // namespace
}  // namespace leapp::ir
