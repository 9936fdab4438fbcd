#include "trace_frames.h"

#include <Python.h>
#include <frameobject.h>

#include <atomic>
#include <unordered_map>
#include <utility>

#include "trace/source.h"

namespace leapp::python {
namespace {

// Guarded by the interpreter lock, like everything below.
std::vector<std::string> libraries;
std::string standard;

// Whose code it is, by code object. An entry holds its code object for good: locations refer to it
// as long as a recording lives, and a program has only so many.
std::unordered_map<PyCodeObject*, bool> verdicts;

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

bool is_library_file(const std::string& file) {
  // Code without a file of its own: import machinery, graphs PyTorch generates.
  if (file.starts_with("<frozen") || file.starts_with("<eval_with_key>")) return true;
  for (const std::string& folder : libraries) {
    if (file.starts_with(folder)) return true;
  }
  return !standard.empty() && file.starts_with(standard) &&
         file.find("-packages/", standard.size()) == std::string::npos;
}

bool is_users(PyCodeObject* code) {
  const auto known = verdicts.find(code);
  if (known != verdicts.end()) return known->second;
  const bool users = !is_library_file(text_of(code->co_filename));
  Py_INCREF(code);
  verdicts.emplace(code, users);
  return users;
}

int position_of(PyFrameObject* frame) noexcept {
#if PY_VERSION_HEX >= 0x030B0000
  const int offset = PyFrame_GetLasti(frame);
#else
  const int offset = frame->f_lasti * 2;
#endif
  return offset < 0 ? 0 : offset;
}

trace::FrameRef capture() noexcept {
  // A thread that never ran Python has no frames, and making it a Python thread would cost.
  if (!installed.load(std::memory_order_relaxed) || PyGILState_GetThisThreadState() == nullptr) {
    return {};
  }
  const InterpreterLock lock;
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  trace::FrameRef found;
  while (frame != nullptr) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    if (is_users(code)) found = {code, position_of(frame)};
    Py_DECREF(code);
    PyFrameObject* outer = found.code == nullptr ? PyFrame_GetBack(frame) : nullptr;
    Py_DECREF(frame);
    frame = outer;
  }
  return found;
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

}  // namespace

void install_frame_hooks(std::vector<std::string> library_folders, std::string standard_library) {
  libraries = std::move(library_folders);
  standard = std::move(standard_library);
  installed = true;
  trace::set_source_hooks({.capture = capture, .resolve = resolve});
}

void remove_frame_hooks() noexcept {
  installed = false;
  trace::set_source_hooks({});
}

ir::SourceLocation current_location() {
  return resolve(capture());
}

}  // namespace leapp::python
