// Tests of indices that select by a mask, and of the layout of a selection.
#include "ir/selection.h"

#include <gtest/gtest.h>

#include "graph_builder.h"

namespace leapp::ir {
namespace {

using testing::index_op;
using testing::names;
using testing::op_of;

class SelectionTest : public ::testing::Test {
 protected:
  ValueId input(const TensorType& type) {
    return graph_.add_input("in" + std::to_string(graph_.inputs().size()), type);
  }
  ValueId mask(const Shape& shape) { return input({DType::kBool, shape}); }
  ValueId tensor(const Shape& shape) { return input({DType::kFloat32, shape}); }
  // Returns a column of nonzero(mask).
  ValueId column(ValueId of, int number) {
    const ValueId id = input({DType::kInt64, {1}});
    selections_.add(id, {.mask = of, .full = id, .flat = true, .column = number});
    return id;
  }

  Graph graph_;
  Selections selections_{graph_};
  Op at_ = op_of("aten::neg()", {});
};

TEST_F(SelectionTest, AnIndexSelectsByAMaskOrByItsPositions) {
  const ValueId x = tensor({2, 3, 4});
  const ValueId rows = mask({2});
  const ValueId columns = mask({3});
  const ValueId both = mask({2, 3});
  const ValueId opaque = mask({2});
  selections_.add_opaque(opaque);
  const ValueId integers = input({DType::kInt64, {2}});
  const ValueId constant = selections_.scalar(DType::kBool, 1);
  const ValueId row = column(both, 0);
  const ValueId col = column(both, 1);
  const struct {
    const char* index;
    std::vector<ValueRef> indices;
    ValueId mask;
    std::size_t leading;
  } table[] = {
      {"x[rows]", {{rows}}, rows, 0},
      {"x[both]", {{both}}, both, 0},
      {"x[:, columns]", {{kNoValue}, {columns}}, columns, 1},
      {"x[:, columns, :]", {{kNoValue}, {columns}, {kNoValue}}, columns, 1},
      {"x[rows, columns]", {{rows}, {columns}}, kNoValue, 0},
      {"x[rows, :, columns]", {{rows}, {kNoValue}, {columns}}, kNoValue, 0},
      {"x[opaque]", {{opaque}}, kNoValue, 0},
      {"x[integers]", {{integers}}, kNoValue, 0},
      {"x[constant]", {{constant}}, kNoValue, 0},
      {"x[:]", {{kNoValue}}, kNoValue, 0},
      {"x[both.nonzero(as_tuple=True)]", {{row}, {col}}, both, 0},
      {"x[columns, rows of both]", {{col}, {row}}, kNoValue, 0},
      {"x[rows of both]", {{row}}, kNoValue, 0},
      {"x[:, both.nonzero(as_tuple=True)]", {{kNoValue}, {row}, {col}}, kNoValue, 0},
  };
  for (const auto& line : table) {
    const MaskedIndex found = selections_.masked_index(index_op(x, line.indices));
    EXPECT_EQ(found.mask, line.mask) << line.index;
    EXPECT_EQ(found.leading, line.leading) << line.index;
  }
}

TEST_F(SelectionTest, PositionsSelectAlongADimensionOfTheMasksSize) {
  const ValueId x = tensor({2, 3});
  const ValueId columns = mask({3});
  const ValueId both = mask({2, 3});
  const struct {
    ValueId index;
    std::int64_t dim;
    ValueId mask;
    std::size_t leading;
  } table[] = {
      {column(columns, 0), 1, columns, 1},
      {column(columns, 0), -1, columns, 1},
      {column(columns, 0), 0, kNoValue, 0},
      {column(both, 0), 0, kNoValue, 0},
      {columns, 1, kNoValue, 0},
  };
  for (const auto& line : table) {
    const MaskedIndex found = selections_.masked_index_along_dim(op_of(
        "aten::index_select(self, dim, index)", {ValueRef{x}, line.dim, ValueRef{line.index}}));
    EXPECT_EQ(found.mask, line.mask) << line.index << " along " << line.dim;
    EXPECT_EQ(found.leading, line.leading) << line.index << " along " << line.dim;
  }
}

TEST_F(SelectionTest, TheMaskStandsBetweenLeadingAndTrailingDimensions) {
  const struct {
    Shape mask, full;
    std::size_t leading;
    bool flat;
    Shape trailing, flattened, unflattened, broadcast;
  } table[] = {
      {{2}, {2}, 0, false, {}, {2}, {2}, {2}},
      {{2}, {2, 3}, 0, false, {3}, {2, 3}, {2, 3}, {2, 1}},
      {{2, 3}, {2, 3, 4}, 0, false, {4}, {6, 4}, {2, 3, 4}, {2, 3, 1}},
      {{2, 3}, {6, 4}, 0, true, {4}, {6, 4}, {2, 3, 4}, {6, 1}},
      {{2, 3}, {5, 2, 3, 4}, 1, false, {4}, {5, 6, 4}, {5, 2, 3, 4}, {2, 3, 1}},
      {{}, {3}, 0, false, {3}, {1, 3}, {3}, {1}},
  };
  for (const auto& line : table) {
    SCOPED_TRACE(to_string(line.mask) + " in " + to_string(line.full));
    const Selection made{.mask = mask(line.mask),
                         .full = tensor(line.full),
                         .leading = line.leading,
                         .flat = line.flat};
    EXPECT_EQ(selections_.trailing_of(made), line.trailing);
    EXPECT_EQ(selections_.shape_of(selections_.flattened(made, at_)), line.flattened);
    EXPECT_EQ(selections_.shape_of(selections_.unflattened(made, at_)), line.unflattened);
    EXPECT_EQ(selections_.shape_of(selections_.broadcast_mask(made, line.trailing.size(), at_)),
              line.broadcast);
  }
}

TEST_F(SelectionTest, FillsWhatWasNotSelected) {
  const Selection made{.mask = mask({2}), .full = tensor({2, 3})};
  const ValueId filled = selections_.filled(made, 0.5, at_);
  EXPECT_EQ(selections_.shape_of(filled), (Shape{2, 3}));
  const std::vector<Op> ops = selections_.take_ops();
  ASSERT_EQ(names(ops), (std::vector<std::string>{"reshape", "where.self"}));
  const ValueId other = tensor_in(ops[1].argument("other"));
  EXPECT_EQ(*graph_.blob(other).as<float>(), 0.5F);
}

TEST_F(SelectionTest, SpecialisesToTheTracedNumberOfElements) {
  const Selection made{.mask = mask({2, 3}), .full = tensor({2, 3, 4})};
  const ValueId four = selections_.specialised(made, {DType::kFloat32, {4, 4}}, at_);
  EXPECT_EQ(selections_.shape_of(four), (Shape{4, 4}));
  const std::vector<Op> ops = selections_.take_ops();
  ASSERT_EQ(names(ops),
            (std::vector<std::string>{"reshape", "reshape", "nonzero", "reshape", "index_select"}));
  EXPECT_TRUE(ops[2].fixed_size);
}

TEST_F(SelectionTest, ATensorIsPlainUnlessAMaskMayDecideItsShape) {
  const ValueId selected = tensor({1});
  const ValueId opaque = tensor({1});
  selections_.add(selected, {.mask = mask({2}), .full = tensor({2})});
  selections_.add_opaque(opaque);
  EXPECT_TRUE(selections_.is_plain(tensor({1})));
  EXPECT_FALSE(selections_.is_plain(selected));
  EXPECT_FALSE(selections_.is_plain(opaque));
  EXPECT_FALSE(selections_.is_plain(kNoValue));
}

TEST_F(SelectionTest, ReplacesOneDimensionByOthers) {
  EXPECT_EQ(replace_dim({2, 3, 4}, 1, {5, 6}), (Shape{2, 5, 6, 4}));
  EXPECT_EQ(replace_dim({2}, 0, {}), Shape{});
}

}  // namespace
}  // namespace leapp::ir
