// leapp._runtime: the C++ runtime for Python. Needs no torch.
#include <pybind11/pybind11.h>
#include <pybind11/stl/filesystem.h>

#include "error_translation.h"
#include "leapp/engine.h"
#include "runtime_manager.h"

namespace py = pybind11;

PYBIND11_MODULE(_runtime, module) {
  module.attr("__version__") = LEAPP_VERSION;
  py::register_local_exception_translator(leapp::python::translate);
  module.def("use_onnxruntime", &leapp::use_onnxruntime, py::arg("path"));
  leapp::python::bind_manager(module);
}
