#include "trace_onnx.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "leapp/error.h"
#include "leapp/onnx_converter.h"
#include "leapp/onnx_export.h"

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
  const py::array array =
      py::module_::import("numpy").attr("ascontiguousarray")(value).cast<py::array>();
  const DType dtype = dtype_called(py::str(array.dtype().attr("name")).cast<std::string>());
  // ascontiguousarray makes a vector of a single number.
  const auto shape = py::module_::import("numpy").attr("shape")(value).cast<Shape>();
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

std::vector<OnnxValue> emit(OnnxOp& op, const std::string& op_type,
                            const std::vector<std::optional<OnnxValue>>& inputs,
                            const py::dict& attributes, const std::vector<Output>& outputs,
                            const std::string& domain, std::int64_t domain_version) {
  std::vector<OnnxValue> operands;
  for (const auto& input : inputs) operands.push_back(input.value_or(OnnxValue()));
  OnnxNodeOptions options;
  options.domain = domain;
  options.domain_version = domain_version;
  for (const auto& [dtype, shape] : outputs) {
    options.outputs.push_back({dtype_called(dtype), shape});
  }
  return op.emit_many(op_type, operands, attributes_from(attributes), options);
}

std::optional<OnnxValue> present(OnnxValue value) {
  return value.defined() ? std::optional(value) : std::nullopt;
}

void register_converter(const std::string& name, py::function function) {
  // The function is let go of under the interpreter lock, whichever thread is the last to need it.
  const std::shared_ptr<py::function> held(new py::function(std::move(function)),
                                           [](py::function* doomed) {
                                             const py::gil_scoped_acquire lock;
                                             delete doomed;
                                           });
  register_onnx_converter(name, [held](OnnxOp& op) {
    const py::gil_scoped_acquire lock;
    (*held)(py::cast(&op, py::return_value_policy::reference));
  });
  registered().insert(name);
}

bool remove_converter(const std::string& name) {
  registered().erase(name);
  return remove_onnx_converter(name);
}

}  // namespace

void bind_onnx(py::module_& module) {
  py::class_<OnnxValue>(module, "OnnxValue")
      .def_property_readonly(
          "dtype", [](const OnnxValue& value) { return std::string(name_of(value.dtype())); })
      .def_property_readonly(
          "shape", [](const OnnxValue& value) { return py::tuple(py::cast(value.shape())); });
  py::class_<OnnxOp>(module, "OnnxOp")
      .def_property_readonly("name", &OnnxOp::name)
      .def_property_readonly("opset_version", &OnnxOp::opset_version)
      .def_property_readonly("source", &OnnxOp::source)
      .def("is_none", &OnnxOp::is_none, py::arg("parameter"))
      .def(
          "tensor",
          [](OnnxOp& op, const std::string& parameter) { return present(op.tensor(parameter)); },
          py::arg("parameter"))
      .def(
          "tensors",
          [](OnnxOp& op, const std::string& parameter) {
            std::vector<std::optional<OnnxValue>> values;
            for (const OnnxValue& value : op.tensors(parameter)) values.push_back(present(value));
            return values;
          },
          py::arg("parameter"))
      .def("flag", &OnnxOp::flag, py::arg("parameter"))
      .def("integer", &OnnxOp::integer, py::arg("parameter"))
      .def("number", &OnnxOp::number, py::arg("parameter"))
      .def("text", &OnnxOp::text, py::arg("parameter"))
      .def("integers", &OnnxOp::integers, py::arg("parameter"))
      .def("numbers", &OnnxOp::numbers, py::arg("parameter"))
      .def("constant", &constant, py::arg("value"))
      .def("emit", &emit, py::arg("op_type"), py::arg("inputs"), py::arg("attributes"),
           py::arg("outputs"), py::arg("domain"), py::arg("domain_version"))
      .def_property_readonly("result_count", &OnnxOp::result_count)
      .def(
          "result_dtype",
          [](const OnnxOp& op, std::size_t i) { return std::string(name_of(op.result_dtype(i))); },
          py::arg("index"))
      .def(
          "result_shape",
          [](const OnnxOp& op, std::size_t i) { return py::tuple(py::cast(op.result_shape(i))); },
          py::arg("index"))
      .def("set_result", &OnnxOp::set_result, py::arg("index"), py::arg("value"))
      .def("fail", &OnnxOp::fail, py::arg("reason"), py::arg("advice"));
  module.def("register_onnx_converter", &register_converter, py::arg("name"), py::arg("function"));
  module.def("remove_onnx_converter", &remove_converter, py::arg("name"));
  module.def("onnx_convertible_ops", &onnx_convertible_ops);
}

void remove_python_converters() {
  for (const std::string& name : std::set<std::string>(registered())) remove_converter(name);
}

}  // namespace leapp::python
