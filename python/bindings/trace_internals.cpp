#include "trace_internals.h"

#include <frameobject.h>

#include <algorithm>
#include <utility>

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

int lasti_of(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030B0000
  return PyFrame_GetLasti(frame);
#else
  return frame->f_lasti * 2;  // counted in instructions of two bytes
#endif
}

}  // namespace

trace::FrameRef find_frame(bool (*is_wanted)(PyCodeObject*)) {
  // A thread that never ran Python has no frames, and registering it with Python would take time.
  if (PyGILState_GetThisThreadState() == nullptr) return {};
  const PyGILState_STATE state = PyGILState_Ensure();
  trace::FrameRef found;
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  while (frame != nullptr) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const bool wanted = is_wanted(code);
    if (wanted) found = {code, std::max(0, lasti_of(frame))};
    Py_DECREF(code);  // the caller that wants it holds it
    PyFrameObject* caller = wanted ? nullptr : PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = caller;
  }
  PyGILState_Release(state);
  return found;
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
#else
py::object globals_of(const py::object& frame) {
  return frame.attr("f_globals");
}
py::object mapping_of(const py::object& frame) {
  return frame.attr("f_locals");
}
#endif
int position_of(const py::object& frame) {
  return lasti_of(as_frame(frame));
}

py::list variables_of(const py::object& frame) {
  const py::object held = code_of(frame);
  auto* code = reinterpret_cast<PyCodeObject*>(held.ptr());
  const bool is_function = (code->co_flags & CO_OPTIMIZED) != 0;
  const py::object mapping = mapping_of(frame);
  if (mapping.is(globals_of(frame))) return py::list();
  const py::object items = take(PyMapping_Items(mapping.ptr()));
  if (!items) throw py::error_already_set();
  // Before Python 3.13 it is a dict that the frame keeps. The program may also have it, from
  // locals().
  const bool is_kept = is_function && PyDict_CheckExact(mapping.ptr());
  if (is_kept && Py_REFCNT(mapping.ptr()) <= 2) PyDict_Clear(mapping.ptr());
  return items;
}

SequenceSlot::SequenceSlot(py::object type)
    : type_(std::move(type)), former_(as_type(type_)->tp_as_sequence->sq_item) {}

void SequenceSlot::restore(const py::handle& type) const {
  as_type(type)->tp_as_sequence->sq_item = former_;
  for (const py::handle subclass : type.attr("__subclasses__")()) {
    // A class with its own indexing has the slot legitimately, and so do its subclasses.
    if (!subclass.attr("__dict__").contains("__getitem__")) restore(subclass);
  }
}

}  // namespace leapp::python
