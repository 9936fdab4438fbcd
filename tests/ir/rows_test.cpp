// Which operators are pointwise, and which are row-wise in the inputs that are selected rows.
#include "ir/rows.h"

#include <gtest/gtest.h>

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

TEST(RowsTest, RowwiseOperators) {
  Graph graph;
  const ValueId x = graph.add_input("x", {DType::kFloat32, {2, 3}});
  const ValueId batch = graph.add_input("batch", {DType::kFloat32, {2, 3, 3}});
  const ValueId images = graph.add_input("images", {DType::kFloat32, {2, 3, 8, 8}});
  const ValueId column = graph.add_input("column", {DType::kInt64, {2, 1}});
  const ValueId w = graph.add_input("w", {DType::kFloat32, {3, 3}});  // the only one not selected
  const auto selected = [&](ValueId id) { return id != w; };
  const auto refs = [](std::vector<ValueId> ids) {
    std::vector<ValueRef> made;
    for (const ValueId id : ids) made.push_back({id});
    return made;
  };
  const auto one = [](ValueId id) { return Argument(ValueRef{id}); };
  const auto number = [](std::int64_t value) { return Argument(value); };
  const struct {
    const char* call;
    Op op;
    bool rowwise;
  } table[] = {
      {"x.sum(1)", op_of("aten::sum", "dim_IntList", {"self", "dim"}, {one(x), Ints{1}}), true},
      {"x.sum(-1)", op_of("aten::sum", "dim_IntList", {"self", "dim"}, {one(x), Ints{-1}}), true},
      {"x.sum(-2)", op_of("aten::sum", "dim_IntList", {"self", "dim"}, {one(x), Ints{-2}}), false},
      {"x.sum(0, 1)", op_of("aten::sum", "dim_IntList", {"self", "dim"}, {one(x), Ints{0, 1}}),
       false},
      {"x.sum()", op_of("aten::sum", "", {"self"}, {one(x)}), false},
      {"w.softmax(1)", op_of("aten::softmax", "int", {"self", "dim"}, {one(w), number(1)}), false},
      {"cat(x, x; 1)", op_of("aten::cat", "", {"tensors", "dim"}, {refs({x, x}), number(1)}), true},
      {"cat(x, x; 0)", op_of("aten::cat", "", {"tensors", "dim"}, {refs({x, x}), number(0)}),
       false},
      {"cat(x, w; 1)", op_of("aten::cat", "", {"tensors", "dim"}, {refs({x, w}), number(1)}),
       false},
      {"stack(x, x; -1)", op_of("aten::stack", "", {"tensors", "dim"}, {refs({x, x}), number(-1)}),
       true},
      {"stack(x, x; -3)", op_of("aten::stack", "", {"tensors", "dim"}, {refs({x, x}), number(-3)}),
       false},
      {"linear(x, w)", op_of("aten::linear", "", {"input", "weight"}, {one(x), one(w)}), true},
      {"linear(w, x)", op_of("aten::linear", "", {"input", "weight"}, {one(w), one(x)}), false},
      {"x @ w", op_of("aten::mm", "", {"self", "mat2"}, {one(x), one(w)}), true},
      {"w @ x", op_of("aten::mm", "", {"self", "mat2"}, {one(w), one(x)}), false},
      {"batch @ batch", op_of("aten::bmm", "", {"self", "mat2"}, {one(batch), one(batch)}), true},
      {"x.T",
       op_of("aten::transpose", "int", {"self", "dim0", "dim1"}, {one(x), number(0), number(1)}),
       false},
      {"batch.mT",
       op_of("aten::transpose", "int", {"self", "dim0", "dim1"},
             {one(batch), number(-2), number(-1)}),
       true},
      {"batch.permute(0, 2, 1)",
       op_of("aten::permute", "", {"self", "dims"}, {one(batch), Ints{0, 2, 1}}), true},
      {"batch.permute(1, 0, 2)",
       op_of("aten::permute", "", {"self", "dims"}, {one(batch), Ints{1, 0, 2}}), false},
      {"batch.reshape(-1, 9)",
       op_of("aten::reshape", "", {"self", "shape"}, {one(batch), Ints{-1, 9}}), true},
      {"batch.reshape(2, 9)",
       op_of("aten::reshape", "", {"self", "shape"}, {one(batch), Ints{2, 9}}), false},
      {"batch.reshape(-1, 3)",
       op_of("aten::reshape", "", {"self", "shape"}, {one(batch), Ints{-1, 3}}), false},
      {"x.expand(-1, 3)", op_of("aten::expand", "", {"self", "size"}, {one(x), Ints{-1, 3}}), true},
      {"x.expand(5, -1, 3)", op_of("aten::expand", "", {"self", "size"}, {one(x), Ints{5, -1, 3}}),
       false},
      {"batch.flatten(1)",
       op_of("aten::flatten", "using_ints", {"self", "start_dim", "end_dim"},
             {one(batch), number(1), number(-1)}),
       true},
      {"batch.flatten()",
       op_of("aten::flatten", "using_ints", {"self", "start_dim", "end_dim"},
             {one(batch), number(0), number(-1)}),
       false},
      {"column.flatten()",
       op_of("aten::flatten", "using_ints", {"self", "start_dim", "end_dim"},
             {one(column), number(0), number(-1)}),
       true},
      {"x.unsqueeze(1)", op_of("aten::unsqueeze", "", {"self", "dim"}, {one(x), number(1)}), true},
      {"x.unsqueeze(0)", op_of("aten::unsqueeze", "", {"self", "dim"}, {one(x), number(0)}), false},
      {"layer_norm(x, [3])",
       op_of("aten::layer_norm", "", {"input", "normalized_shape"}, {one(x), Ints{3}}), true},
      {"layer_norm(x, [2, 3])",
       op_of("aten::layer_norm", "", {"input", "normalized_shape"}, {one(x), Ints{2, 3}}), false},
      {"batch_norm(x)", op_of("aten::batch_norm", "", {"input", "training"}, {one(x), false}),
       true},
      {"batch_norm(x) in training",
       op_of("aten::batch_norm", "", {"input", "training"}, {one(x), true}), false},
      {"conv2d(images)", op_of("aten::conv2d", "", {"input", "weight"}, {one(images), one(w)}),
       true},
      {"conv2d of one image", op_of("aten::conv2d", "", {"input", "weight"}, {one(batch), one(w)}),
       false},
      {"gru_cell(x, x)",
       op_of("aten::gru_cell", "", {"input", "hx", "w_ih"}, {one(x), one(x), one(w)}), true},
      {"gru_cell(x, w)",
       op_of("aten::gru_cell", "", {"input", "hx", "w_ih"}, {one(x), one(w), one(w)}), false},
      {"x.flip(1)", op_of("aten::flip", "", {"self", "dims"}, {one(x), Ints{1}}), false},
  };
  for (const auto& line : table) {
    EXPECT_EQ(is_rowwise(graph, line.op, selected), line.rowwise) << line.call;
  }
}

}  // namespace
}  // namespace leapp::ir
