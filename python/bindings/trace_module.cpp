// leapp._trace: the C++ tracing API for Python.
#include "session/front_end_interface.h"
#include "trace_bind.h"
#include "trace_frames.h"
#include "trace_held_arrays.h"
#include "trace_onnx.h"

namespace py = pybind11;

PYBIND11_MODULE(_trace, module) {
  using namespace leapp::python;
  module.doc() = "The C++ tracing API.";
  module.attr("__version__") = LEAPP_VERSION;
  py::register_local_exception_translator(&translate);
  install_frame_hooks();
  bind_session(module);
  bind_annotations(module);
  bind_front_end(module);
  bind_frames(module);
  bind_held_arrays(module);
  bind_indexing(module);
  bind_program(module);
  bind_onnx(module);
  bind_shadow(module);
  // The interpreter must not be called after it has begun to exit.
  py::module_::import("atexit").attr("register")(py::cpp_function([] {
    remove_frame_hooks();
    leapp::session::detach_front_end();
    remove_python_converters();
  }));
}
