#include "export/torchscript/exporter_ops.h"

#include <ATen/Functions.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
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

// The elements of a view, of a tensor in which each element is its own index.
using View = at::Tensor (*)(const Op& op, const at::Tensor& whole);

const std::map<std::string, View, std::less<>>& views() {
  static const std::map<std::string, View, std::less<>> known = {
      {"aten::select",
       [](const Op& op, const at::Tensor& whole) {
         return whole.select(number(op, "dim"), number(op, "index"));
       }},
      {"aten::slice",
       [](const Op& op, const at::Tensor& whole) {
         return whole.slice(number(op, "dim"), number_if_any(op, "start"), number_if_any(op, "end"),
                            number(op, "step"));
       }},
      {"aten::diagonal",
       [](const Op& op, const at::Tensor& whole) {
         return whole.diagonal(number(op, "offset"), number(op, "dim1"), number(op, "dim2"));
       }},
      {"aten::as_strided",
       [](const Op& op, const at::Tensor& whole) {
         return whole.as_strided(std::get<std::vector<std::int64_t>>(op.argument("size")),
                                 std::get<std::vector<std::int64_t>>(op.argument("stride")),
                                 number_if_any(op, "storage_offset"));
       }},
      {"aten::unfold",
       [](const Op& op, const at::Tensor& whole) {
         return whole.unfold(number(op, op.has("dim") ? "dim" : "dimension"), number(op, "size"),
                             number(op, "step"));
       }},
  };
  return known;
}

// The view of "aten::slice_scatter" and similar operators, by the suffix; null: another operator.
View view_before(std::string_view name, std::string_view ending) {
  if (!name.ends_with(ending)) return nullptr;
  const auto view = views().find(name.substr(0, name.size() - ending.size()));
  return view == views().end() ? nullptr : view->second;
}

class Rewriter {
 public:
  explicit Rewriter(ir::Graph graph) : graph_(std::move(graph)) {}

  ir::Graph run() {
    for (const Op& op : graph_.ops()) {
      if (!replace(op)) ops_.push_back(op);
    }
    graph_.set_ops(std::move(ops_));
    ir::verify(graph_);
    return std::move(graph_);
  }

 private:
  bool replace(const Op& op) {
    const std::string& name = op.signature->name;
    if (name == "aten::_to_copy") {
      const DType dtype = graph_.type(op.result()).dtype;
      finish(op, "aten::to", "dtype",
             {ValueRef{tensor(op, "self")}, dtype, false, false, std::monostate{}});
    } else if (const View written = view_before(name, "_scatter")) {
      scatter(op, flat(op, tensor(op, "self")), tensor(op, "src"), written);
    } else if (const View summed = view_before(name, "_backward")) {
      scatter(op, zeros(graph_.type(op.result())), std::get<ValueRef>(op.arguments[0]).id, summed);
    } else if (const View copied = view_before(name, "_copy")) {
      gather(op, copied);
    } else if (name == "aten::diagonal" || name == "aten::as_strided" || name == "aten::unfold") {
      gather(op, views().at(name));
    } else {
      return false;
    }
    return true;
  }

  // The elements are known, so their positions in the flat tensor are a constant.
  at::Tensor places(const Op& op, View view, const Shape& shape) const {
    return view(op, at::arange(element_count(shape)).reshape(shape)).reshape({-1}).contiguous();
  }

  void gather(const Op& op, View view) {
    const ValueId self = tensor(op, "self");
    const at::Tensor from = places(op, view, graph_.type(self).shape);
    const TensorType type = graph_.type(op.result());
    const ValueId where = graph_.add_constant("", interop::to_blob(from));
    const ValueId taken = append("aten::index_select", "",
                                 {ValueRef{flat(op, self)}, std::int64_t{0}, ValueRef{where}},
                                 {type.dtype, {from.numel()}, type.device}, op);
    finish(op, "aten::reshape", "", {ValueRef{taken}, type.shape});
  }

  // Writes `source` into the flat tensor `into`; elements at the same position are added, as for
  // derivatives.
  void scatter(const Op& op, ValueId into, ValueId source, View view) {
    const TensorType type = graph_.type(op.result());
    const at::Tensor to = places(op, view, type.shape);
    const bool meets = std::get<0>(at::_unique(to)).numel() != to.numel();
    const ValueId where = graph_.add_constant("", interop::to_blob(to));
    const ValueId scattered =
        append(meets ? "aten::scatter_add" : "aten::scatter", meets ? "" : "src",
               {ValueRef{into}, std::int64_t{0}, ValueRef{where}, ValueRef{flat(op, source)}},
               {type.dtype, {element_count(type.shape)}, type.device}, op);
    finish(op, "aten::reshape", "", {ValueRef{scattered}, type.shape});
  }

  ValueId zeros(const TensorType& type) {
    return graph_.add_constant(
        "", interop::to_blob(
                at::zeros({element_count(type.shape)}, interop::to_scalar_type(type.dtype))));
  }

  ValueId flat(const Op& op, ValueId value) {
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

  // The last of the operators that replace `op`.
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
