#include "trace_frames.h"

#include <Python.h>
#include <c10/util/flat_hash_map.h>
#include <frameobject.h>

#include <atomic>
#include <utility>

#include "trace/source.h"

// Walking Python's own frame structures takes no lock and allocates nothing; the public functions
// make an object of every frame they pass. The structures are known for these versions.
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030E0000
#define LEAPP_KNOWN_FRAMES 1
#define Py_BUILD_CORE 1
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#else
#define LEAPP_KNOWN_FRAMES 0
#endif

namespace leapp::python {
namespace {

// Set before `installed`, constant afterwards.
std::vector<std::string> libraries;
std::string standard;
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

/// Whether the code is the user's. Each thread remembers its answers, so that only the first sight
/// of a code object takes the interpreter lock.
bool is_users(PyCodeObject* code) {
  thread_local ska::flat_hash_map<PyCodeObject*, bool> verdicts;
  const auto known = verdicts.find(code);
  if (known != verdicts.end()) return known->second;
  const InterpreterLock lock;
  const bool users = !is_library_file(text_of(code->co_filename));
  // Held for good: recordings refer to it, and its address must not come back as another one's. A
  // program has only so many.
  Py_INCREF(code);
  verdicts.emplace(code, users);
  return users;
}

#if LEAPP_KNOWN_FRAMES

PyCodeObject* code_of(const _PyInterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030D0000
  return reinterpret_cast<PyCodeObject*>(frame->f_executable);
#else
  return frame->f_code;
#endif
}

/// The innermost frame of the user's code. Safe without the interpreter lock: only this thread
/// changes its frames, and they hold their code objects.
trace::FrameRef find_users_frame(PyThreadState* thread) {
#if PY_VERSION_HEX >= 0x030D0000
  _PyInterpreterFrame* frame = thread->current_frame;
#else
  _PyInterpreterFrame* frame = thread->cframe->current_frame;
#endif
  for (; frame != nullptr; frame = frame->previous) {
    if (_PyFrame_IsIncomplete(frame) || !is_users(code_of(frame))) continue;
    const int offset = _PyInterpreterFrame_LASTI(frame) * static_cast<int>(sizeof(_Py_CODEUNIT));
    return {code_of(frame), offset < 0 ? 0 : offset};
  }
  return {};
}

#else

int position_of(PyFrameObject* frame) noexcept {
#if PY_VERSION_HEX >= 0x030B0000
  const int offset = PyFrame_GetLasti(frame);
#else
  const int offset = frame->f_lasti * 2;  // counted in instructions of two bytes
#endif
  return offset < 0 ? 0 : offset;
}

/// The innermost frame of the user's code.
trace::FrameRef find_users_frame(PyThreadState*) {
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

#endif

trace::FrameRef capture() noexcept {
  if (!installed.load(std::memory_order_acquire)) return {};
  // A thread that never ran Python has no frames, and making it a Python thread would cost.
  PyThreadState* thread = PyGILState_GetThisThreadState();
  return thread == nullptr ? trace::FrameRef{} : find_users_frame(thread);
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
