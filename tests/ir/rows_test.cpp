// Tests of the lists of pointwise operators and of those that are row-wise in selected inputs.
#include "ir/rows.h"

#include <gtest/gtest.h>

#include <limits>

#include "graph_builder.h"

namespace leapp::ir {
namespace {

using testing::op_of;

TEST(RowsTest, PointwiseOperators) {
  const struct {
    const char* name;
    bool any, floats;
  } table[] = {
      {"aten::add", true, true},         {"aten::where", true, true},
      {"aten::logical_not", true, true}, {"aten::tanh", false, true},
      {"aten::div", false, true},        {"aten::cumsum", false, false},
      {"aten::sum", false, false},       {"aten::linear", false, false},
  };
  for (const auto& line : table) {
    EXPECT_EQ(is_pointwise(line.name, false), line.any) << line.name;
    EXPECT_EQ(is_pointwise(line.name, true), line.floats) << line.name;
  }
}

using Ints = std::vector<std::int64_t>;
using Refs = std::vector<ValueRef>;

TEST(RowsTest, RowwiseOperators) {
  Graph graph;
  const auto input = [&](const char* name, const Shape& shape) {
    return ValueRef{graph.add_input(name, {DType::kFloat32, shape})};
  };
  const ValueRef x = input("x", {2, 3});
  const ValueRef batch = input("batch", {2, 3, 3});
  const ValueRef images = input("images", {2, 3, 8, 8});
  const ValueRef column = input("column", {2, 1});
  const ValueRef w = input("w", {3, 3});  // the only input that is not selected
  const auto selected = [&](ValueId id) { return id != w.id; };
  const auto dim = [](std::int64_t value) { return Argument(value); };
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  const auto slice = [&](std::int64_t along, std::int64_t start, std::int64_t end,
                         std::int64_t step) {
    return op_of("aten::slice.Tensor(self, dim, start, end, step)",
                 {x, dim(along), dim(start), dim(end), dim(step)});
  };
  const struct {
    const char* call;
    Op op;
    bool rowwise;
  } table[] = {
      {"x.sum(1)", op_of("aten::sum.dim_IntList(self, dim)", {x, Ints{1}}), true},
      {"x.sum(-1)", op_of("aten::sum.dim_IntList(self, dim)", {x, Ints{-1}}), true},
      {"x.sum(-2)", op_of("aten::sum.dim_IntList(self, dim)", {x, Ints{-2}}), false},
      {"x.sum(0, 1)", op_of("aten::sum.dim_IntList(self, dim)", {x, Ints{0, 1}}), false},
      {"x.sum()", op_of("aten::sum(self)", {x}), false},
      {"w.softmax(1)", op_of("aten::softmax.int(self, dim)", {w, dim(1)}), false},
      {"cat(x, x; 1)", op_of("aten::cat(tensors, dim)", {Refs{x, x}, dim(1)}), true},
      {"cat(x, x; 0)", op_of("aten::cat(tensors, dim)", {Refs{x, x}, dim(0)}), false},
      {"cat(x, w; 1)", op_of("aten::cat(tensors, dim)", {Refs{x, w}, dim(1)}), false},
      {"stack(x, x; -1)", op_of("aten::stack(tensors, dim)", {Refs{x, x}, dim(-1)}), true},
      {"stack(x, x; -3)", op_of("aten::stack(tensors, dim)", {Refs{x, x}, dim(-3)}), false},
      {"linear(x, w)", op_of("aten::linear(input, weight)", {x, w}), true},
      {"linear(w, x)", op_of("aten::linear(input, weight)", {w, x}), false},
      {"x @ w", op_of("aten::mm(self, mat2)", {x, w}), true},
      {"w @ x", op_of("aten::mm(self, mat2)", {w, x}), false},
      {"batch @ batch", op_of("aten::bmm(self, mat2)", {batch, batch}), true},
      {"x.T", op_of("aten::transpose.int(self, dim0, dim1)", {x, dim(0), dim(1)}), false},
      {"batch.mT", op_of("aten::transpose.int(self, dim0, dim1)", {batch, dim(-2), dim(-1)}), true},
      {"batch.permute(0, 2, 1)", op_of("aten::permute(self, dims)", {batch, Ints{0, 2, 1}}), true},
      {"batch.permute(1, 0, 2)", op_of("aten::permute(self, dims)", {batch, Ints{1, 0, 2}}), false},
      {"batch.reshape(-1, 9)", op_of("aten::reshape(self, shape)", {batch, Ints{-1, 9}}), true},
      {"batch.reshape(2, 9)", op_of("aten::reshape(self, shape)", {batch, Ints{2, 9}}), false},
      {"batch.reshape(-1, 3)", op_of("aten::reshape(self, shape)", {batch, Ints{-1, 3}}), false},
      {"x.expand(-1, 3)", op_of("aten::expand(self, size)", {x, Ints{-1, 3}}), true},
      {"x.expand(5, -1, 3)", op_of("aten::expand(self, size)", {x, Ints{5, -1, 3}}), false},
      {"batch.flatten(1)",
       op_of("aten::flatten.using_ints(self, start_dim, end_dim)", {batch, dim(1), dim(-1)}), true},
      {"batch.flatten()",
       op_of("aten::flatten.using_ints(self, start_dim, end_dim)", {batch, dim(0), dim(-1)}),
       false},
      {"column.flatten()",
       op_of("aten::flatten.using_ints(self, start_dim, end_dim)", {column, dim(0), dim(-1)}),
       true},
      {"x[:, 1:]", slice(1, 1, kEnd, 1), true},
      {"x[:]", slice(0, 0, kEnd, 1), true},
      {"x[:2], of two rows", slice(0, 0, 2, 1), false},
      {"x[1:]", slice(0, 1, kEnd, 1), false},
      {"x[::2]", slice(0, 0, kEnd, 2), false},
      {"x.unsqueeze(1)", op_of("aten::unsqueeze(self, dim)", {x, dim(1)}), true},
      {"x.unsqueeze(0)", op_of("aten::unsqueeze(self, dim)", {x, dim(0)}), false},
      {"layer_norm(x, [3])", op_of("aten::layer_norm(input, normalized_shape)", {x, Ints{3}}),
       true},
      {"layer_norm(x, [2, 3])", op_of("aten::layer_norm(input, normalized_shape)", {x, Ints{2, 3}}),
       false},
      {"batch_norm(x)", op_of("aten::batch_norm(input, training)", {x, false}), true},
      {"batch_norm(x) in training", op_of("aten::batch_norm(input, training)", {x, true}), false},
      {"conv2d(images)", op_of("aten::conv2d(input, weight)", {images, w}), true},
      {"conv2d of one image", op_of("aten::conv2d(input, weight)", {batch, w}), false},
      {"gru_cell(x, x)", op_of("aten::gru_cell(input, hx, w_ih)", {x, x, w}), true},
      {"gru_cell(x, w)", op_of("aten::gru_cell(input, hx, w_ih)", {x, w, w}), false},
      {"x.flip(1)", op_of("aten::flip(self, dims)", {x, Ints{1}}), false},
  };
  for (const auto& line : table) {
    EXPECT_EQ(is_rowwise(graph, line.op, selected), line.rowwise) << line.call;
  }
}

}  // namespace
}  // namespace leapp::ir
