// leapp._runtime: the C++ runtime for Python. Needs no torch.
#include <pybind11/pybind11.h>
#include <pybind11/stl/filesystem.h>

#include <string_view>

#include "error_translation.h"
#include "leapp/engine.h"
#include "leapp/log.h"
#include "python_values.h"
#include "runtime/engines/operators.h"
#include "runtime_controller.h"
#include "runtime_manager.h"
#include "runtime_supervisor.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

void set_console(const py::object& emit, int level) {
  const auto sink = [kept = keep(emit)](LogLevel at, std::string_view message) {
    const py::gil_scoped_acquire acquire;
    try {
      (*kept)(static_cast<int>(at), message);
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("leapp");  // a closed console must not stop the program
    }
  };
  set_log_sink(sink, static_cast<LogLevel>(level));
}

}  // namespace
}  // namespace leapp::python

PYBIND11_MODULE(_runtime, module) {
  module.attr("__version__") = LEAPP_VERSION;
  py::register_local_exception_translator(leapp::python::translate);
  module.def("use_onnxruntime", &leapp::use_onnxruntime, py::arg("path"));
  module.def("set_console", &leapp::python::set_console, py::arg("emit"), py::arg("level"));
  module.def("only_computes", &leapp::only_computes, py::arg("operator"));
  module.def("printable", &leapp::printable, py::arg("text"));
  // The interpreter must not be called after it has begun to exit.
  py::module_::import("atexit").attr("register")(py::cpp_function([] { leapp::set_log_sink({}); }));
  leapp::python::bind_manager(module);
  leapp::python::bind_controller(module);
  leapp::python::bind_supervisor(module);
}
