// leapp._runtime: the C++ runtime for Python. Needs no torch.
#include <pybind11/pybind11.h>
#include <pybind11/stl/filesystem.h>

#include "leapp/engine.h"
#include "leapp/error.h"
#include "runtime_manager.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

const char* class_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kInternal:
      return "LeappError";
    case ErrorKind::kType:
      return "LeappTypeError";
    case ErrorKind::kValue:
      return "LeappValueError";
    case ErrorKind::kNotFound:
      return "LeappNotFoundError";
    case ErrorKind::kIo:
      return "LeappIoError";
    case ErrorKind::kExport:
      return "LeappExportError";
    case ErrorKind::kValidation:
      return "LeappValidationError";
  }
  return "LeappError";
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const py::object type = py::module_::import("leapp.errors").attr(class_name(error.kind()));
    PyErr_SetString(type.ptr(), error.what());
  }
}

}  // namespace
}  // namespace leapp::python

PYBIND11_MODULE(_runtime, module) {
  module.attr("__version__") = LEAPP_VERSION;
  py::register_local_exception_translator(leapp::python::translate);
  module.def("use_onnxruntime", &leapp::use_onnxruntime, py::arg("path"));
  leapp::python::bind_manager(module);
}
