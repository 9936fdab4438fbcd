#include "export/torchscript/exporter_ops.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <torch/script.h>

#include "export/torchscript/torchscript.h"
#include "interop/convert.h"

namespace leapp::torchscript {
namespace {

using ir::Argument;
using ir::ValueRef;

// Returns a graph of one operator whose first arguments are the tensors.
ir::Graph graph_of(const char* name, const std::vector<at::Tensor>& tensors,
                   const std::vector<Argument>& rest, const at::Tensor& result) {
  ir::Graph graph;
  ir::Op op;
  op.signature = interop::signature_of(c10::Dispatcher::singleton().findSchemaOrThrow(name, ""));
  for (const at::Tensor& tensor : tensors) {
    const std::string port = "x" + std::to_string(op.arguments.size());
    op.arguments.emplace_back(ValueRef{graph.add_input(port, interop::type_of(tensor))});
  }
  op.arguments.insert(op.arguments.end(), rest.begin(), rest.end());
  op.results = {{.values = {graph.add_result(interop::type_of(result))}}};
  graph.append(op);
  graph.add_output("y", op.result());
  return graph;
}

TEST(ExporterOps, ComputeTheSameByKnownOperators) {
  const at::Tensor x = at::randn({3, 4});
  const auto zero = std::int64_t{0};
  const auto one = std::int64_t{1};
  const auto two = std::int64_t{2};
  const at::Tensor row = at::randn({4});
  const at::Tensor columns = at::randn({3, 2});
  const at::Tensor diagonal = at::randn({3});
  const at::Tensor corner = at::randn({2, 2});
  const at::Tensor windows = at::randn({3, 3, 2});
  const at::Tensor pairs = at::randn({3, 2, 2});
  const std::vector<std::int64_t> sizes = {3, 4};
  const Argument none = std::monostate{};
  const struct {
    const char* name;
    std::vector<at::Tensor> tensors;
    std::vector<Argument> rest;
    at::Tensor expected;
  } table[] = {
      {"aten::select_scatter", {x, row}, {zero, -one}, at::select_scatter(x, row, 0, -1)},
      {"aten::slice_scatter",
       {x, columns},
       {one, one, none, two},
       at::slice_scatter(x, columns, 1, 1, std::nullopt, 2)},
      {"aten::diagonal_scatter",
       {x, diagonal},
       {one, zero, one},
       at::diagonal_scatter(x, diagonal, 1, 0, 1)},
      {"aten::as_strided_scatter",
       {x, corner},
       {std::vector{two, two}, std::vector{std::int64_t{4}, one}, two},
       at::as_strided_scatter(x, corner, {2, 2}, {4, 1}, 2)},
      {"aten::diagonal", {x}, {one, zero, one}, x.diagonal(1, 0, 1)},
      {"aten::diagonal_copy", {x}, {-one, zero, one}, x.diagonal(-1, 0, 1)},
      {"aten::as_strided",
       {x},
       {std::vector{two, two}, std::vector{std::int64_t{4}, one}, two},
       x.as_strided({2, 2}, {4, 1}, 2)},
      {"aten::unfold", {x}, {one, two, one}, x.unfold(1, 2, 1)},
      {"aten::select_backward", {row}, {sizes, zero, two}, at::select_backward(row, {3, 4}, 0, 2)},
      {"aten::slice_backward",
       {columns},
       {sizes, one, one, std::int64_t{4}, two},
       at::slice_backward(columns, {3, 4}, 1, 1, 4, 2)},
      {"aten::diagonal_backward",
       {diagonal},
       {sizes, zero, zero, one},
       at::diagonal_backward(diagonal, {3, 4}, 0, 0, 1)},
      {"aten::unfold_backward",  // overlapping windows are added up
       {windows},
       {sizes, one, two, one},
       at::unfold_backward(windows, {3, 4}, 1, 2, 1)},
      {"aten::unfold_backward",
       {pairs},
       {sizes, one, two, two},
       at::unfold_backward(pairs, {3, 4}, 1, 2, 2)},
      {"aten::_to_copy", {x}, {DType::kInt32, none, none, none, false, none}, x.to(at::kInt)},
  };
  const std::string file = ::testing::TempDir() + "exporter_ops.pt";
  for (const auto& line : table) {
    SCOPED_TRACE(line.name);
    const ir::Graph graph =
        for_onnx_exporter(graph_of(line.name, line.tensors, line.rest, line.expected));
    for (const ir::Op& op : graph.ops()) EXPECT_NE(op.signature->name, line.name);
    write(graph, file, {});
    std::vector<c10::IValue> inputs(line.tensors.begin(), line.tensors.end());
    EXPECT_TRUE(at::equal(torch::jit::load(file).forward(inputs).toTensor(), line.expected));
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace leapp::torchscript
