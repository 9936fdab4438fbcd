#include "trace_frames.h"

#include <Python.h>
#include <c10/util/flat_hash_map.h>
#include <frameobject.h>
#include <pybind11/stl.h>

#include <atomic>
#include <utility>
#include <vector>

#include "trace/source.h"
#include "trace_internals.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

// Set before `installed`, constant afterwards.
std::vector<std::string> libraries;
std::vector<std::string> standard;
std::atomic<bool> installed = false;

class InterpreterLock {
 public:
  InterpreterLock() : state_(PyGILState_Ensure()) {}
  ~InterpreterLock() { PyGILState_Release(state_); }
  InterpreterLock(const InterpreterLock&) = delete;
  InterpreterLock& operator=(const InterpreterLock&) = delete;

 private:
  PyGILState_STATE state_;
};

std::string text_of(PyObject* text) {
  const char* utf8 = text == nullptr ? nullptr : PyUnicode_AsUTF8(text);
  if (utf8 == nullptr) PyErr_Clear();
  return utf8 == nullptr ? "" : utf8;
}

trace::FrameRef capture() noexcept {
  if (!installed.load(std::memory_order_acquire)) return {};
  return find_frame(is_user_code);
}

ir::SourceLocation resolve(trace::FrameRef ref) {
  if (ref.code == nullptr || !installed.load(std::memory_order_relaxed)) return {};
  const InterpreterLock lock;
  auto* code = static_cast<PyCodeObject*>(const_cast<void*>(ref.code));
#if PY_VERSION_HEX >= 0x030B0000
  PyObject* name = code->co_qualname;
#else
  PyObject* name = code->co_name;
#endif
  return {text_of(code->co_filename), PyCode_Addr2Line(code, ref.position), text_of(name)};
}

bool only_shown(trace::FrameRef ref) {
  if (!installed.load(std::memory_order_relaxed)) return false;
  const py::gil_scoped_acquire lock;
  const py::handle code(static_cast<PyObject*>(const_cast<void*>(ref.code)));
  return py::module_::import("leapp._source").attr("only_shown")(code, ref.position).cast<bool>();
}

}  // namespace

bool is_user_file(const std::string& file) {
  // Code without a source file: import machinery, graphs that PyTorch generates.
  if (file.starts_with("<frozen") || file.starts_with("<eval_with_key>")) return false;
  for (const std::string& folder : libraries) {
    if (file.starts_with(folder)) return false;
  }
  for (const std::string& folder : standard) {
    // Installed packages are below the standard library.
    if (file.starts_with(folder))
      return file.find("-packages/", folder.size()) != std::string::npos;
  }
  return true;
}

bool is_user_code(PyCodeObject* code) {
  thread_local ska::flat_hash_map<PyCodeObject*, bool> verdicts;
  const auto known = verdicts.find(code);
  if (known != verdicts.end()) return known->second;
  const InterpreterLock lock;
  const bool users = is_user_file(text_of(code->co_filename));
  // Never released: recordings refer to it, and its address must not be reused. A program has a
  // limited number of code objects.
  Py_INCREF(code);
  verdicts.emplace(code, users);
  return users;
}

void install_frame_hooks() {
  const py::object folder_of = py::module_::import("os.path").attr("dirname");
  for (const char* module : {"torch", "numpy", "leapp"}) {
    const py::object file = py::module_::import(module).attr("__file__");
    libraries.push_back(folder_of(file).cast<std::string>() + "/");
  }
  const py::object paths = py::module_::import("sysconfig").attr("get_path");
  for (const char* path : {"stdlib", "platstdlib"}) {
    standard.push_back(paths(path).cast<std::string>() + "/");
  }
  installed = true;
  trace::set_source_hooks({.capture = capture, .resolve = resolve, .only_shown = only_shown});
}

void remove_frame_hooks() noexcept {
  installed = false;
  trace::set_source_hooks({});
}

void bind_frames(py::module_& module) {
  module.def(
      "is_user_code",
      [](const py::object& code) {
        return PyCode_Check(code.ptr()) ? is_user_code(reinterpret_cast<PyCodeObject*>(code.ptr()))
                                        : is_user_file(code.cast<std::string>());
      },
      py::arg("code"));
  const py::object tensor = py::module_::import("torch").attr("Tensor");
  module.def("restore_sequence_slot", [slot = SequenceSlot(tensor)] { slot.restore(); });
}

}  // namespace leapp::python
