#include "export/onnx/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/onnx/nn.h"
#include "export/onnx/ops.h"

namespace leapp::onnx_export {
namespace {

class Layout : public ::testing::Test {
 protected:
  Value weight(std::int64_t rows, std::int64_t columns) {
    return builder_.input("w" + std::to_string(builder_.value_count()),
                          {DType::kFloat32, {rows, columns}});
  }
  /// Counts the reshapes between the inputs and the value.
  int reshapes_to(Value value) const {
    const BuiltNode* node = builder_.producer(value);
    if (node == nullptr) return 0;
    int count = node->op_type == "Reshape" ? 1 : 0;
    for (const std::int32_t id : node->inputs) {
      if (id >= 0) count += reshapes_to(Value(&builder_, id));
    }
    return count;
  }

  mutable Builder builder_{20};
  Value x_ = builder_.input("x", {DType::kFloat32, {2, 3, 4}});
};

TEST_F(Layout, LayersInARowStayMatrices) {
  const Value hidden = relu(linear(x_, weight(5, 4), Value()));
  const Value y = linear(hidden, weight(6, 5), Value());
  EXPECT_EQ(y.shape(), (Shape{2, 3, 6}));
  EXPECT_EQ(reshapes_to(y), 2);  // one before the first layer, one after the last
}

TEST_F(Layout, AResidualSumIsDoneOnRows) {
  const Value y = x_ + linear(x_, weight(4, 4), Value());
  EXPECT_EQ(y.shape(), x_.shape());
  EXPECT_EQ(before_reshape(y).shape(), (Shape{6, 4}));
}

TEST_F(Layout, RowsTakeNumbersAndVectorsBesideThem) {
  const Value product = linear(x_, weight(5, 4), Value());
  const Value rows = rows_of(product);
  ASSERT_TRUE(rows.defined());
  EXPECT_EQ(beside_rows(scalar(builder_, DType::kFloat32, 2), product.shape(), rows).shape(),
            Shape{});
  const Value vector = builder_.input("b", {DType::kFloat32, {5}});
  EXPECT_EQ(beside_rows(vector, product.shape(), rows), vector);
  const Value column = builder_.input("c", {DType::kFloat32, {3, 1}});
  EXPECT_FALSE(beside_rows(column, product.shape(), rows).defined());
  EXPECT_EQ((product * column).shape(), (Shape{2, 3, 5}));
}

TEST_F(Layout, OtherReshapesAreNoRows) {
  EXPECT_FALSE(rows_of(x_).defined());
  EXPECT_FALSE(rows_of(reshape(x_, {6, 2, 2})).defined());
  EXPECT_EQ(before_reshape(reshape(x_, {6, 4})), x_);
}

TEST_F(Layout, TheLastStepComesFromTheFinalState) {
  const Value sequence = builder_.input("s", {DType::kFloat32, {7, 2, 4}});
  const Value inputs[] = {sequence, weight(1, 1), weight(1, 1)};
  const std::vector<Value> made =
      builder_.emit_many("GRU", inputs, {{"hidden_size", std::int64_t{5}}},
                         {{DType::kFloat32, {7, 1, 2, 5}}, {DType::kFloat32, {1, 2, 5}}});
  const Value outputs = reshape(made[0], {7, 2, 5});
  EXPECT_EQ(before_reshape(select(outputs, 0, -1)), made[1]);
  EXPECT_FALSE(last_step(outputs, 0, 3).defined());
  EXPECT_FALSE(last_step(outputs, 1, 1).defined());
}

}  // namespace
}  // namespace leapp::onnx_export
