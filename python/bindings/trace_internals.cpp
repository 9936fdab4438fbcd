#include "trace_internals.h"

#include <frameobject.h>

#include <utility>

// Walking Python's own frame structures takes no lock and allocates nothing.
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030E0000
#define LEAPP_KNOWN_FRAMES 1
#define Py_BUILD_CORE 1
#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#else
#define LEAPP_KNOWN_FRAMES 0
#endif

namespace py = pybind11;

namespace leapp::python {
namespace {

py::object take(PyObject* object) {
  return py::reinterpret_steal<py::object>(object);
}

PyFrameObject* as_frame(const py::object& frame) {
  return reinterpret_cast<PyFrameObject*>(frame.ptr());
}

PyTypeObject* as_type(const py::handle& type) {
  return reinterpret_cast<PyTypeObject*>(type.ptr());
}

#if LEAPP_KNOWN_FRAMES
PyCodeObject* code_in(const _PyInterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030D0000
  return reinterpret_cast<PyCodeObject*>(frame->f_executable);
#else
  return frame->f_code;
#endif
}

trace::FrameRef find_frame_of(PyThreadState* thread, bool (*is_wanted)(PyCodeObject*)) {
#if PY_VERSION_HEX >= 0x030D0000
  _PyInterpreterFrame* frame = thread->current_frame;
#else
  _PyInterpreterFrame* frame = thread->cframe->current_frame;
#endif
  for (; frame != nullptr; frame = frame->previous) {
    if (_PyFrame_IsIncomplete(frame) || !is_wanted(code_in(frame))) continue;
    const int offset = _PyInterpreterFrame_LASTI(frame) * static_cast<int>(sizeof(_Py_CODEUNIT));
    return {code_in(frame), offset < 0 ? 0 : offset};
  }
  return {};
}

// What PyFrame_GetLocals() makes a dict of.
py::list fast_variables(const _PyInterpreterFrame* frame, PyCodeObject* code) {
  py::list found;
  for (int i = 0; i < code->co_nlocalsplus; ++i) {
    PyObject* value = frame->localsplus[i];
    const _PyLocals_Kind kind = _PyLocals_GetKind(code->co_localspluskinds, i);
    const bool is_shared = (kind & (CO_FAST_CELL | CO_FAST_FREE)) != 0;
    if (is_shared && value != nullptr && PyCell_Check(value)) value = PyCell_GET(value);
    if (value == nullptr) continue;
    found.append(take(PyTuple_Pack(2, PyTuple_GET_ITEM(code->co_localsplusnames, i), value)));
  }
  return found;
}
#else
trace::FrameRef find_frame_of(PyThreadState*, bool (*is_wanted)(PyCodeObject*)) {
  const PyGILState_STATE state = PyGILState_Ensure();
  trace::FrameRef found;
  {
    for (py::object frame = current_frame(); frame; frame = caller_of(frame)) {
      auto* code = reinterpret_cast<PyCodeObject*>(code_of(frame).ptr());
      if (!is_wanted(code)) continue;
      const int offset = position_of(frame);
      found = {code, offset < 0 ? 0 : offset};
      break;
    }
  }
  PyGILState_Release(state);
  return found;
}
#endif

}  // namespace

trace::FrameRef find_frame(bool (*is_wanted)(PyCodeObject*)) {
  // A thread that never ran Python has no frames, and making it a Python thread would cost.
  PyThreadState* thread = PyGILState_GetThisThreadState();
  return thread == nullptr ? trace::FrameRef{} : find_frame_of(thread, is_wanted);
}

py::object current_frame() {
  return py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
}
py::object code_of(const py::object& frame) {
  return take(reinterpret_cast<PyObject*>(PyFrame_GetCode(as_frame(frame))));
}
py::object caller_of(const py::object& frame) {
  return take(reinterpret_cast<PyObject*>(PyFrame_GetBack(as_frame(frame))));
}
#if PY_VERSION_HEX >= 0x030B0000
py::object globals_of(const py::object& frame) {
  return take(PyFrame_GetGlobals(as_frame(frame)));
}
py::object mapping_of(const py::object& frame) {
  return take(PyFrame_GetLocals(as_frame(frame)));
}
int position_of(const py::object& frame) {
  return PyFrame_GetLasti(as_frame(frame));
}
#else
py::object globals_of(const py::object& frame) {
  return frame.attr("f_globals");
}
py::object mapping_of(const py::object& frame) {
  return frame.attr("f_locals");
}
int position_of(const py::object& frame) {
  return as_frame(frame)->f_lasti * 2;  // counted in instructions of two bytes
}
#endif

py::list variables_of(const py::object& frame) {
  const py::object held = code_of(frame);
  auto* code = reinterpret_cast<PyCodeObject*>(held.ptr());
  const bool is_function = (code->co_flags & CO_OPTIMIZED) != 0;
#if LEAPP_KNOWN_FRAMES
  if (is_function) return fast_variables(as_frame(frame)->f_frame, code);
#endif
  const py::object mapping = mapping_of(frame);
  if (mapping.is(globals_of(frame))) return py::list();
  const py::object items = take(PyMapping_Items(mapping.ptr()));
  if (!items) throw py::error_already_set();
  // Before Python 3.13 it is a dict that the frame keeps. The program may have it too: locals().
  const bool is_kept = is_function && PyDict_CheckExact(mapping.ptr());
  if (is_kept && Py_REFCNT(mapping.ptr()) <= 2) PyDict_Clear(mapping.ptr());
  return items;
}

SequenceSlot::SequenceSlot(py::object type)
    : type_(std::move(type)), former_(as_type(type_)->tp_as_sequence->sq_item) {}

void SequenceSlot::restore(const py::handle& type) const {
  as_type(type)->tp_as_sequence->sq_item = former_;
  for (const py::handle subclass : type.attr("__subclasses__")()) {
    // A class with an indexing of its own has the slot by right, and so have those below it.
    if (!subclass.attr("__dict__").contains("__getitem__")) restore(subclass);
  }
}

}  // namespace leapp::python
