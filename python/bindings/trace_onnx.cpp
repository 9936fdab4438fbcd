#include "trace_onnx.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "leapp/error.h"
#include "leapp/trace/onnx_converter.h"
#include "leapp/trace/onnx_export.h"
#include "python_values.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

std::set<std::string>& registered() {
  static std::set<std::string> names;  // guarded by the interpreter lock
  return names;
}

DType dtype_called(const std::string& name) {
  const std::optional<DType> dtype = dtype_from_name(name);
  if (!dtype) throw Error(Code::kWrongValue, "there is no element type called '" + name + "'");
  return *dtype;
}

OnnxValue constant(OnnxOp& op, const py::object& value) {
  const py::module_ numpy = py::module_::import("numpy");
  const py::object given = numpy.attr("asarray")(value);
  // Arrays that were read from a file may have another byte order than this machine's.
  const py::object dtype_here = given.attr("dtype").attr("newbyteorder")("=");
  const auto array = numpy.attr("ascontiguousarray")(given, dtype_here).cast<py::array>();
  const DType dtype = dtype_called(py::str(array.dtype().attr("name")).cast<std::string>());
  // ascontiguousarray() converts a scalar to a vector.
  const auto shape = given.attr("shape").cast<Shape>();
  return op.constant({array.data(), dtype, shape});
}

OnnxAttributes attributes_from(const py::dict& given) {
  OnnxAttributes attributes;
  for (const auto& [key, value] : given) {
    const auto name = key.cast<std::string>();
    if (py::isinstance<py::bool_>(value)) {
      attributes.emplace_back(name, std::int64_t{value.cast<bool>()});
    } else if (py::isinstance<py::int_>(value)) {
      attributes.emplace_back(name, value.cast<std::int64_t>());
    } else if (py::isinstance<py::float_>(value)) {
      attributes.emplace_back(name, value.cast<float>());
    } else if (py::isinstance<py::str>(value)) {
      attributes.emplace_back(name, value.cast<std::string>());
    } else {
      const auto items = py::cast<py::sequence>(value);
      const bool texts = py::len(items) > 0 && py::isinstance<py::str>(items[0]);
      const bool floats = py::len(items) > 0 && py::isinstance<py::float_>(items[0]);
      if (texts) {
        attributes.emplace_back(name, items.cast<std::vector<std::string>>());
      } else if (floats) {
        attributes.emplace_back(name, items.cast<std::vector<float>>());
      } else {
        attributes.emplace_back(name, items.cast<std::vector<std::int64_t>>());
      }
    }
  }
  return attributes;
}

using Output = std::pair<std::string, Shape>;
using Operands = std::vector<std::optional<OnnxValue>>;

std::vector<OnnxValue> emit_many(OnnxOp& op, const std::string& op_type, const Operands& inputs,
                                 const std::vector<Output>& outputs, const py::object& attributes,
                                 const std::string& domain, std::int64_t domain_version) {
  std::vector<OnnxValue> operands;
  for (const auto& input : inputs) operands.push_back(input.value_or(OnnxValue()));
  OnnxNodeOptions options;
  options.domain = domain;
  options.domain_version = domain_version;
  for (const auto& [dtype, shape] : outputs) {
    options.outputs.push_back({dtype_called(dtype), shape});
  }
  return op.emit_many(op_type, operands,
                      attributes_from(attributes.is_none() ? py::dict() : py::dict(attributes)),
                      options);
}

OnnxValue emit(OnnxOp& op, const std::string& op_type, const Operands& inputs,
               const py::object& attributes, const std::optional<std::string>& dtype,
               const std::optional<Shape>& shape, const std::string& domain,
               std::int64_t domain_version) {
  const Output output(dtype ? *dtype : std::string(name_of(op.result_dtype(0))),
                      shape ? *shape : op.result_shape(0));
  return emit_many(op, op_type, inputs, {output}, attributes, domain, domain_version)[0];
}

std::optional<OnnxValue> present(OnnxValue value) {
  return value.defined() ? std::optional(value) : std::nullopt;
}

// Sets the result of a converter: one value, or several in a tuple; None leaves a result out.
void set_results(OnnxOp& op, const py::object& returned) {
  const bool several = PyTuple_Check(returned.ptr()) || PyList_Check(returned.ptr());
  const py::sequence values =
      several ? py::sequence(returned) : py::sequence(py::make_tuple(returned));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const py::object value = values[i];
    if (!value.is_none()) op.set_result(i, value.cast<OnnxValue>());
  }
}

void register_converter(const std::string& name, py::function function) {
  register_onnx_converter(name, [kept = keep(std::move(function))](OnnxOp& op) {
    const py::gil_scoped_acquire lock;
    set_results(op, (*kept)(py::cast(&op, py::return_value_policy::reference)));
  });
  registered().insert(name);
}

bool remove_converter(const std::string& name) {
  registered().erase(name);
  return remove_onnx_converter(name);
}

constexpr const char* kEmitDoc = R"(Add a node with one output.

Args:
    op_type: The ONNX operator, ``"Gemm"``.
    inputs: Its inputs in order; None for one that is left out.
    attributes: Ints, floats, strs, or lists of one of them.
    dtype: Element type of the output, ``"float32"``. Default: that of the first result.
    shape: Shape of the output. Default: that of the first result.
    domain: Empty for ONNX's own operators; others must be known to the engine.
    domain_version: The domain's opset version.)";

// Adds the functions that read an argument.
void bind_arguments(py::class_<OnnxOp>& op) {
  const auto parameter = py::arg("parameter");
  op.def("is_none", &OnnxOp::is_none, parameter, "Return whether an optional argument is missing.");
  op.def(
      "tensor", [](OnnxOp& self, const std::string& name) { return present(self.tensor(name)); },
      parameter, "Return a tensor, with ``dtype`` and ``shape``; None if it is missing.");
  op.def(
      "tensors",
      [](OnnxOp& self, const std::string& name) {
        Operands values;
        for (const OnnxValue& value : self.tensors(name)) values.push_back(present(value));
        return values;
      },
      parameter, "Return a list of tensors.");
  op.def("flag", &OnnxOp::flag, parameter, "A bool.");
  op.def("integer", &OnnxOp::integer, parameter, "An int.");
  op.def("number", &OnnxOp::number, parameter, "Return a float; an int is converted.");
  op.def("text", &OnnxOp::text, parameter, "A str.");
  op.def("integers", &OnnxOp::integers, parameter,
         "Return a list of ints; None counts as an empty one.");
  op.def("numbers", &OnnxOp::numbers, parameter,
         "Return a list of floats; None counts as an empty one.");
}

// Adds the functions that build the result.
void bind_results(py::class_<OnnxOp>& op) {
  op.def("constant", &constant, py::arg("value"),
         "Return a constant with the elements and the type of a NumPy array or number.");
  op.def("emit", &emit, py::arg("op_type"), py::arg("inputs"), py::arg("attributes") = py::none(),
         py::kw_only(), py::arg("dtype") = py::none(), py::arg("shape") = py::none(),
         py::arg("domain") = "", py::arg("domain_version") = 1, kEmitDoc);
  op.def("emit_many", &emit_many, py::arg("op_type"), py::arg("inputs"), py::arg("outputs"),
         py::arg("attributes") = py::none(), py::kw_only(), py::arg("domain") = "",
         py::arg("domain_version") = 1,
         "Add a node with several outputs, each given as ``(dtype, shape)``.");
  op.def_property_readonly("result_count", &OnnxOp::result_count,
                           "The number of results of the operator.");
  op.def(
      "result_dtype",
      [](const OnnxOp& self, std::size_t i) { return std::string(name_of(self.result_dtype(i))); },
      py::arg("index") = 0, "Return the element type of a result, ``\"float32\"``.");
  op.def(
      "result_shape",
      [](const OnnxOp& self, std::size_t i) { return py::tuple(py::cast(self.result_shape(i))); },
      py::arg("index") = 0, "Return the shape of a result.");
  op.def("fail", &OnnxOp::fail, py::arg("reason"), py::arg("advice") = "",
         "End the export with an error that names the operator and the user's line.");
}

}  // namespace

void bind_onnx(py::module_& module) {
  py::class_<OnnxValue>(module, "OnnxValue", "A tensor in the model under construction.")
      .def_property_readonly(
          "dtype", [](const OnnxValue& value) { return std::string(name_of(value.dtype())); },
          "Its element type, ``\"float32\"``.")
      .def_property_readonly(
          "shape", [](const OnnxValue& value) { return py::tuple(py::cast(value.shape())); },
          "Its shape.");
  py::class_<OnnxOp> op(
      module, "Op",
      "One call of an operator that is being converted. Valid while the converter runs.");
  op.def_property_readonly("name", &OnnxOp::name, "The qualified name, ``mylib::softclip``.");
  op.def_property_readonly("opset_version", &OnnxOp::opset_version,
                           "The ONNX opset that the model is written for.");
  op.def_property_readonly("source", &OnnxOp::source,
                           "The user's line, ``policy.py:42 in act``; empty if unknown.");
  bind_arguments(op);
  bind_results(op);
  module.def("register_onnx_converter", &register_converter, py::arg("name"), py::arg("function"));
  module.def("remove_onnx_converter", &remove_converter, py::arg("name"));
  module.def("onnx_convertible_ops", &onnx_convertible_ops);
}

void remove_python_converters() {
  for (const std::string& name : std::set<std::string>(registered())) remove_converter(name);
}

}  // namespace leapp::python
