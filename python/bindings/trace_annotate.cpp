// The annotations: converts Python payloads to tensors and back.
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/pybind.h>

#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "leapp/leapp.h"
#include "python_values.h"
#include "trace_bind.h"
#include "trace_convert.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

using Tensors = std::vector<at::Tensor>;

using Annotation = Tensors(const std::string&, const NamedTensors&, std::source_location);

template <Annotation* annotation>
Tensors annotated(const std::string& node, const py::sequence& entries) {
  const NamedTensors tensors = to_named_tensors(entries);
  return unlocked([&] { return annotation(node, tensors, std::source_location::current()); });
}

// Returns names, or the tensors themselves.
NamedTensors to_constants(const py::sequence& given) {
  NamedTensors constants;
  for (const py::handle each : given) {
    const bool is_name = PyUnicode_Check(each.ptr()) != 0;
    constants.push_back({.name = is_name ? each.cast<std::string>() : std::string(),
                         .ref = is_name ? at::Tensor() : each.cast<at::Tensor>()});
  }
  return constants;
}

Tensors output(const std::string& node, const py::sequence& entries,
               const py::sequence& static_entries, std::optional<std::string> export_with,
               const py::dict& backend_params, const py::sequence& constants,
               const std::optional<ScheduleTuple>& schedule) {
  const NamedTensors tensors = to_named_tensors(entries);
  OutputOptions options{
      .static_outputs = to_named_tensors(static_entries),
      .export_with = std::move(export_with),
      .backend_params = to_metadata(backend_params, "backend_params of node '" + node + "'"),
      .constants = to_constants(constants)};
  if (schedule) options.schedule = to_schedule(*schedule);
  return unlocked([&] { return annotate::output_tensors(node, tensors, options); });
}

// Handles the most common payload, a dict of named tensors, without Python code, because
// annotations are called in loops. Returns NotImplemented for other payloads.
std::optional<NamedTensors> plain_payload(const py::handle& node, const py::handle& payload) {
  if (!PyUnicode_CheckExact(node.ptr()) || !PyDict_CheckExact(payload.ptr())) return std::nullopt;
  NamedTensors tensors;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t position = 0; PyDict_Next(payload.ptr(), &position, &key, &value) != 0;) {
    if (!PyUnicode_CheckExact(key) || !THPVariable_CheckExact(value)) return std::nullopt;
    tensors.push_back({py::handle(key).cast<std::string>(), THPVariable_Unpack(value), {}});
  }
  return tensors.empty() ? std::nullopt : std::optional(std::move(tensors));
}

bool has_arguments(const char* function, Py_ssize_t count, Py_ssize_t expected) {
  if (count == expected) return true;
  PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, got %zd", function, expected, count);
  return false;
}

py::object not_implemented() {
  return py::reinterpret_borrow<py::object>(Py_NotImplemented);
}

py::object input_dict(const py::handle& node, const py::handle& payload) {
  const auto tensors = plain_payload(node, payload);
  if (!tensors) return not_implemented();
  const auto name = node.cast<std::string>();
  const Tensors values = unlocked([&] { return annotate::input_tensors(name, *tensors); });
  if (values.size() == 1) return py::reinterpret_steal<py::object>(THPVariable_Wrap(values[0]));
  py::tuple result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    result[i] = py::reinterpret_steal<py::object>(THPVariable_Wrap(values[i]));
  }
  return result;
}

py::object output_dict(const py::handle& node, const py::handle& payload,
                       const py::handle& export_with) {
  const auto tensors = plain_payload(node, payload);
  if (!tensors || !PyUnicode_CheckExact(export_with.ptr())) return not_implemented();
  const auto name = node.cast<std::string>();
  const OutputOptions options{.export_with = export_with.cast<std::string>()};
  unlocked([&] { annotate::output_tensors(name, *tensors, options); });
  const py::object values = py::reinterpret_steal<py::object>(PyDict_Values(payload.ptr()));
  return tensors->size() == 1 ? py::object(values[py::int_(0)]) : py::tuple(values);
}

void track_module(const std::string& node, const py::sequence& entries, const py::object& current) {
  const NamedTensors buffers = to_named_tensors(entries);
  auto ask = [held = keep(current)]() -> Tensors {
    const py::gil_scoped_acquire acquire;
    return (*held)().cast<Tensors>();
  };
  unlocked([&] { annotate::module(node, buffers, std::move(ask)); });
}

PyObject* input_dict_now(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (!has_arguments("input_dict", count, 2)) return nullptr;
  return raising([&] { return input_dict(arguments[0], arguments[1]); });
}
PyObject* output_dict_now(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (!has_arguments("output_dict", count, 3)) return nullptr;
  return raising([&] { return output_dict(arguments[0], arguments[1], arguments[2]); });
}

PyCFunction as_function(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}
PyMethodDef annotate_functions[] = {
    {"input_dict", as_function(input_dict_now), METH_FASTCALL,
     "Implement input_tensors() for a plain dict."},
    {"output_dict", as_function(output_dict_now), METH_FASTCALL,
     "Implement output_tensors() for a plain dict."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void bind_annotations(py::module_& module) {
  add_functions(module, annotate_functions);
  const auto node = py::arg("node");
  const auto entries = py::arg("entries");
  module.def("input_tensors", &annotated<annotate::input_tensors>, node, entries);
  module.def("output_tensors", &output, node, entries, py::arg("static_entries"),
             py::arg("export_with"), py::arg("backend_params"), py::arg("constants"),
             py::arg("schedule"));
  module.def("state_tensors", &annotated<annotate::state_tensors>, node, entries);
  module.def("update_state", &annotated<annotate::update_state>, node, entries);
  module.def("module", &track_module, node, entries, py::arg("current"));
  module.def("register_buffer", &annotated<annotate::register_buffer>, node, entries);
  module.def(
      "mirror_leapp_tags",
      [](const at::Tensor& source, const at::Tensor& target) {
        unlocked([&] { annotate::mirror_leapp_tags(source, target); });
      },
      py::arg("source"), py::arg("target"));
  module.def(
      "abandon", [](const std::string& name) { unlocked([&] { annotate::abandon(name); }); }, node);
}

}  // namespace leapp::python
