// Tests of masks that are true once per row, and of their selections.
#include "ir/one_hot.h"

#include <gtest/gtest.h>

#include "graph_builder.h"

namespace leapp::ir {
namespace {

using testing::add;
using testing::index_op;
using testing::kFull;
using testing::kMask;
using testing::names;
using testing::op_of;
using testing::with_result;

const TensorType kHot{DType::kInt64, {2, 3}};

class OneHotTest : public ::testing::Test {
 protected:
  ValueId one_hot() {
    return add(graph_,
               op_of("aten::one_hot(self, num_classes)", {ValueRef{index_}, std::int64_t{3}}),
               kHot);
  }
  // zeros(2, 3).scatter(dim, index[:, None], value)
  ValueId scattered(std::int64_t dim, std::int64_t value) {
    const ValueId zeros = selections_.integers(std::vector<std::int64_t>(6), {2, 3});
    return add(graph_,
               op_of("aten::scatter.value(self, dim, index, value)",
                     {ValueRef{zeros}, dim, ValueRef{column_}, value}),
               kHot);
  }
  ValueId compared(const char* name, ValueId hot, Argument with) {
    return add(graph_,
               op_of(std::string(name) + ".Scalar(self, other)", {ValueRef{hot}, std::move(with)}),
               kMask);
  }
  ValueId cast(ValueId value, DType dtype) {
    return add(graph_, op_of("aten::_to_copy(self, dtype)", {ValueRef{value}, dtype}),
               {dtype, {2, 3}});
  }
  bool replaces(ValueId mask) {
    return replace_one_hot(selections_,
                           with_result(graph_, index_op(x_, {{mask}}), {DType::kFloat32, {2}}));
  }

  Graph graph_;
  Selections selections_{graph_};
  ValueId x_ = graph_.add_input("x", kFull);
  ValueId index_ = graph_.add_input("index", {DType::kInt64, {2}});
  ValueId column_ = graph_.add_input("column", {DType::kInt64, {2, 1}});
};

TEST_F(OneHotTest, MasksThatAreTrueOnceForEachRow) {
  const std::int64_t zero = 0;
  const std::int64_t one = 1;
  const struct {
    const char* mask;
    ValueId value;
    bool one_hot;
  } table[] = {
      {"one_hot > 0.5", compared("aten::gt", one_hot(), 0.5), true},
      {"one_hot > 0", compared("aten::gt", one_hot(), zero), true},
      {"one_hot > 1", compared("aten::gt", one_hot(), one), false},
      {"one_hot >= 1", compared("aten::ge", one_hot(), one), true},
      {"one_hot >= 0", compared("aten::ge", one_hot(), zero), false},
      {"one_hot == 1", compared("aten::eq", one_hot(), true), true},
      {"one_hot == 0", compared("aten::eq", one_hot(), zero), false},
      {"one_hot != 0", compared("aten::ne", one_hot(), zero), true},
      {"one_hot < 0.5", compared("aten::lt", one_hot(), 0.5), false},
      {"one_hot.bool()", cast(one_hot(), DType::kBool), true},
      {"one_hot.float() > 0.5", compared("aten::gt", cast(one_hot(), DType::kFloat32), 0.5), true},
      {"scatter(-1, i, 1) > 0.5", compared("aten::gt", scattered(-1, 1), 0.5), true},
      {"scatter(1, i, 1) > 0.5", compared("aten::gt", scattered(1, 1), 0.5), true},
      {"scatter(0, i, 1) > 0.5", compared("aten::gt", scattered(0, 1), 0.5), false},
      {"scatter(-1, i, 2) > 0.5", compared("aten::gt", scattered(-1, 2), 0.5), false},
      {"x > 0.5", compared("aten::gt", x_, 0.5), false},
      {"an input", graph_.add_input("mask", kMask), false},
  };
  for (const auto& line : table) EXPECT_EQ(replaces(line.value), line.one_hot) << line.mask;
}

TEST_F(OneHotTest, TheSelectionIsTheElementAtTheIndexOfEachRow) {
  ASSERT_TRUE(replaces(compared("aten::gt", one_hot(), 0.5)));
  const std::vector<Op> ops = selections_.take_ops();
  ASSERT_EQ(names(ops), (std::vector<std::string>{"add.Tensor", "reshape", "index_select"}));
  const Blob& starts = graph_.blob(tensor_in(ops[0].argument("other")));
  EXPECT_EQ(std::vector<std::int64_t>(starts.as<std::int64_t>(), starts.as<std::int64_t>() + 2),
            (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(graph_.type(ops[1].result()).shape, Shape{6});
}

}  // namespace
}  // namespace leapp::ir
