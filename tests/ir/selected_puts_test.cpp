// Tests of rewriting writes to selected elements, and of the writes that stay unchanged.
#include "ir/selected_puts.h"

#include <gtest/gtest.h>

#include "graph_builder.h"

namespace leapp::ir {
namespace {

using testing::names;
using testing::op_of;
using testing::put_op;
using testing::with_result;

using Names = std::vector<std::string>;

class SelectedPutsTest : public ::testing::Test {
 protected:
  ValueId input(const TensorType& type) {
    return graph_.add_input("in" + std::to_string(graph_.inputs().size()), type);
  }
  ValueId tensor(const Shape& shape) { return input({DType::kFloat32, shape}); }
  // Returns a value that is a selection from a tensor of shape `full`.
  ValueId selected(Selection selection, const Shape& full, DType dtype = DType::kFloat32) {
    selection.full = input({dtype, full});
    const ValueId id = input({dtype, {1}});
    selections_.add(id, selection);
    return id;
  }
  // nonzero(rows).squeeze(1)
  ValueId positions() {
    return selected({.mask = rows_, .flat = true, .column = 0}, {2}, DType::kInt64);
  }
  // Returns the operators that replace the op; none if it stays.
  Names replaced(Op op, Spread spread) {
    op = with_result(graph_, std::move(op), {DType::kFloat32, {2, 3}});
    const bool done = replace_put(selections_, op, spread);
    const std::vector<Op> ops = selections_.take_ops();
    EXPECT_EQ(done, !ops.empty());
    if (done) {
      EXPECT_EQ(ops.back().result(), op.result());
    }
    return names(ops);
  }

  Graph graph_;
  Selections selections_{graph_};
  ValueId x_ = tensor({2, 3});
  ValueId rows_ = input({DType::kBool, {2}});
  ValueId other_ = input({DType::kBool, {2}});
  ValueId all_ = input({DType::kBool, {2, 3}});
};

TEST_F(SelectedPutsTest, WritesOfWhatTheSameMaskSelectedBecomeAWhere) {
  const ValueId history = tensor({4, 2, 3});
  const Names where = {"where.self"};
  const Names rows = {"reshape", "where.self"};
  const Names none;
  const struct {
    const char* write;
    Op op;
    Names elements, rows;
  } table[] = {
      {"x[all] = y[all]", put_op(x_, {{all_}}, selected({.mask = all_}, {2, 3})), where, where},
      {"x[rows] = y[rows]", put_op(x_, {{rows_}}, selected({.mask = rows_}, {2, 3})), rows, rows},
      {"x[rows] = y[other]", put_op(x_, {{rows_}}, selected({.mask = other_}, {2, 3})), none, none},
      {"x[rows] = y[rows] of one column", put_op(x_, {{rows_}}, selected({.mask = rows_}, {2, 1})),
       none, rows},
      {"x[rows] = y[rows] of two columns", put_op(x_, {{rows_}}, selected({.mask = rows_}, {2, 2})),
       none, none},
      {"x[rows] = float64",
       put_op(x_, {{rows_}}, selected({.mask = rows_}, {2, 3}, DType::kFloat64)), none, none},
      {"history[:, rows] = y[rows]",
       put_op(history, {{kNoValue}, {rows_}}, selected({.mask = rows_}, {2, 3})), rows, rows},
      {"x[all] = flattened y[all]",
       put_op(x_, {{all_}}, selected({.mask = all_, .flat = true}, {6})), rows, rows},
      {"x[all] = y[all].reshape(..)",
       put_op(x_, {{all_}}, selected({.mask = all_, .shaped = false}, {2, 3})), where, where},
      {"x[rows] += y[rows]",
       put_op(x_, {{rows_}}, selected({.mask = rows_}, {2, 3}), true),
       none,
       {"reshape", "where.self", "add.Tensor"}},
  };
  for (const auto& line : table) {
    EXPECT_EQ(replaced(line.op, Spread::kElements), line.elements) << line.write;
    EXPECT_EQ(replaced(line.op, Spread::kRows), line.rows) << line.write;
  }
}

TEST_F(SelectedPutsTest, OtherWritesAreReplacedWhereShapesHaveToBeStatic) {
  const auto along = [&](const char* name, ValueId source, Argument alpha) {
    return op_of(
        std::string(name) + "(self, dim, index, source, alpha)",
        {ValueRef{x_}, std::int64_t{0}, ValueRef{positions()}, ValueRef{source}, std::move(alpha)});
  };
  const auto fill = [&](Argument value) {
    return op_of("aten::index_fill.int_Scalar(self, dim, index, value)",
                 {ValueRef{x_}, std::int64_t{0}, ValueRef{positions()}, std::move(value)});
  };
  const std::int64_t one = 1;
  const auto rows = [&] { return selected({.mask = rows_}, {2, 3}); };
  const Names none;
  const struct {
    const char* write;
    Op op;
    Names rows;
  } table[] = {
      {"x.index_copy(0, positions, y[rows])",
       along("aten::index_copy", rows(), one),
       {"reshape", "where.self"}},
      {"x.index_add(0, positions, y[rows])",
       along("aten::index_add", rows(), one),
       {"reshape", "where.self", "add.Tensor"}},
      {"x.index_add(.., alpha=2)", along("aten::index_add", rows(), 2.0), none},
      {"x.index_fill(0, positions, 0.5)", fill(0.5), {"reshape", "where.self"}},
      {"x.index_fill(0, positions, True)", fill(true), none},
      {"x.masked_scatter(all, y[all])",
       op_of("aten::masked_scatter(self, mask, source)",
             {ValueRef{x_}, ValueRef{all_}, ValueRef{selected({.mask = all_}, {2, 3})}}),
       {"where.self"}},
      {"x[positions] = 0", put_op(x_, {{positions()}}, tensor({})), {"index_put"}},
      {"x[rows] = 0", put_op(x_, {{rows_}}, tensor({})), none},
      {"neg(x)", op_of("aten::neg(self)", {ValueRef{x_}}), none},
  };
  for (const auto& line : table) {
    EXPECT_EQ(replaced(line.op, Spread::kRows), line.rows) << line.write;
  }
}

TEST_F(SelectedPutsTest, TheSameAtAllPositionsIsWrittenByTheMask) {
  const TensorType type = graph_.type(x_);
  const Op op = with_result(graph_, put_op(x_, {{positions()}}, tensor({})), type);
  ASSERT_TRUE(replace_put(selections_, op, Spread::kRows));
  EXPECT_EQ(selections_.take_ops().front().argument("indices"),
            Argument(std::vector<ValueRef>{{rows_}}));
}

}  // namespace
}  // namespace leapp::ir
