#include "export/torchscript/exporter_ops.h"

#include <ATen/Functions.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "interop/convert.h"

namespace leapp::torchscript {
namespace {

using ir::Argument;
using ir::Op;
using ir::TensorType;
using ir::ValueId;
using ir::ValueRef;

ValueId tensor(const Op& op, const char* parameter) {
  return std::get<ValueRef>(op.argument(parameter)).id;
}

std::int64_t number(const Op& op, const char* parameter) {
  return std::get<std::int64_t>(op.argument(parameter));
}

std::optional<std::int64_t> number_if_any(const Op& op, const char* parameter) {
  const auto* found = std::get_if<std::int64_t>(&op.argument(parameter));
  return found == nullptr ? std::nullopt : std::optional(*found);
}

// The part of a tensor that an operator writes to, as a view of the tensor.
using View = at::Tensor (*)(const Op& op, const at::Tensor& whole);

const std::map<std::string, View>& writers() {
  static const std::map<std::string, View> known = {
      {"aten::select_scatter",
       [](const Op& op, const at::Tensor& whole) {
         return whole.select(number(op, "dim"), number(op, "index"));
       }},
      {"aten::slice_scatter",
       [](const Op& op, const at::Tensor& whole) {
         return whole.slice(number(op, "dim"), number_if_any(op, "start"), number_if_any(op, "end"),
                            number(op, "step"));
       }},
      {"aten::diagonal_scatter",
       [](const Op& op, const at::Tensor& whole) {
         return whole.diagonal(number(op, "offset"), number(op, "dim1"), number(op, "dim2"));
       }},
      {"aten::as_strided_scatter",
       [](const Op& op, const at::Tensor& whole) {
         return whole.as_strided(std::get<std::vector<std::int64_t>>(op.argument("size")),
                                 std::get<std::vector<std::int64_t>>(op.argument("stride")),
                                 number_if_any(op, "storage_offset"));
       }},
  };
  return known;
}

class Rewriter {
 public:
  explicit Rewriter(ir::Graph graph) : graph_(std::move(graph)) {}

  ir::Graph run() {
    for (const Op& op : graph_.ops()) {
      if (const auto writer = writers().find(op.signature->name); writer != writers().end()) {
        write(op, writer->second);
      } else if (op.signature->name == "aten::_to_copy") {
        const DType dtype = graph_.type(op.result()).dtype;
        finish(op, "aten::to", "dtype",
               {ValueRef{tensor(op, "self")}, dtype, false, false, std::monostate{}});
      } else {
        ops_.push_back(op);
      }
    }
    graph_.set_ops(std::move(ops_));
    ir::verify(graph_);
    return std::move(graph_);
  }

 private:
  // Where the elements go is known: their places in the flat tensor are a constant.
  void write(const Op& op, View view) {
    const TensorType type = graph_.type(op.result());
    const at::Tensor places = at::arange(element_count(type.shape)).reshape(type.shape);
    const ValueId where =
        graph_.add_constant("", interop::to_blob(view(op, places).reshape({-1}).contiguous()));
    const ValueId scattered = append(
        "aten::scatter", "src",
        {ValueRef{flat(op, "self")}, std::int64_t{0}, ValueRef{where}, ValueRef{flat(op, "src")}},
        {type.dtype, {element_count(type.shape)}, type.device}, op);
    finish(op, "aten::reshape", "", {ValueRef{scattered}, type.shape});
  }

  ValueId flat(const Op& op, const char* parameter) {
    const ValueId value = tensor(op, parameter);
    TensorType type = graph_.type(value);
    type.shape = {element_count(type.shape)};
    return append("aten::reshape", "", {ValueRef{value}, type.shape}, type, op);
  }

  ValueId append(const char* name, const char* overload, std::vector<Argument> arguments,
                 TensorType type, const Op& like) {
    const ValueId result = graph_.add_result(std::move(type));
    add(name, overload, std::move(arguments), {{.values = {result}}}, like);
    return result;
  }

  // The last of the operators that take the place of `op`.
  void finish(const Op& op, const char* name, const char* overload,
              std::vector<Argument> arguments) {
    add(name, overload, std::move(arguments), op.results, op);
  }

  void add(const char* name, const char* overload, std::vector<Argument> arguments,
           std::vector<ir::Result> results, const Op& like) {
    Op op = like;  // its source
    op.signature =
        interop::signature_of(c10::Dispatcher::singleton().findSchemaOrThrow(name, overload));
    op.arguments = std::move(arguments);
    op.results = std::move(results);
    ops_.push_back(std::move(op));
  }

  ir::Graph graph_;
  std::vector<Op> ops_;
};

}  // namespace

ir::Graph for_onnx_exporter(ir::Graph graph) {
  return Rewriter(std::move(graph)).run();
}

}  // namespace leapp::torchscript
