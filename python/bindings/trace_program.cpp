#include "trace_program.h"

#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "trace_bind.h"
#include "trace_frames.h"
#include "trace_internals.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

// Maximum number of frames that are searched; the innermost ones are LEAPP's own.
constexpr int kMostFrames = 16;

// Maximum number of items of a list that are read.
constexpr Py_ssize_t kMostItems = 64;

bool hold_the_same(PyObject* now, PyObject* before) {
  if (PyDict_Size(now) != PyDict_Size(before)) return false;
  PyObject* ours = nullptr;
  PyObject* theirs = nullptr;
  Py_ssize_t here = 0;
  Py_ssize_t there = 0;
  while (PyDict_Next(now, &here, nullptr, &ours) != 0 &&
         PyDict_Next(before, &there, nullptr, &theirs) != 0) {
    if (ours != theirs) return false;
  }
  return true;
}

// Returns the first items of a list. Uses list's own methods, because a subclass may load items on
// access.
py::list items_of(const py::handle& list, Py_ssize_t count) {
  py::list items;
  for (Py_ssize_t i = 0; i < count; ++i) items.append(py::handle(PyList_GET_ITEM(list.ptr(), i)));
  return items;
}

bool begins_with(const py::handle& list, const py::handle& items) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.ptr()); ++i) {
    if (PyList_GET_ITEM(list.ptr(), i) != PyList_GET_ITEM(items.ptr(), i)) return false;
  }
  return true;
}

// Replaces the stored copy of a list, tuple, deque or set: its length and its first items.
void refresh_list(const py::object& list, py::list copies, std::size_t at) {
  if (PyTuple_Check(list.ptr())) return;  // which do not change
  if (!PyList_Check(list.ptr())) {
    copies[at] = py::module_::import("leapp._snapshot").attr("copy_of")(list);
    return;
  }
  const Py_ssize_t length = PyList_GET_SIZE(list.ptr());
  const py::tuple known = copies[at];
  if (known[0].cast<Py_ssize_t>() == length && begins_with(list, known[1])) return;
  copies[at] = py::make_tuple(length, items_of(list, std::min(length, kMostItems)));
}

// Returns the current content of a dict-like holder: attributes may be those of a class, or Fields.
py::object content_of(const py::object& held) {
  if (PyDict_Check(held.ptr())) return held;
  return Py_TYPE(held.ptr()) == &PyDictProxy_Type ? py::dict(held) : held.attr("now")();
}

// Without methods of a subclass, which may load items on access.
py::dict copy_of(const py::handle& dict) {
  if (PyDict_CheckExact(dict.ptr()))
    return py::reinterpret_steal<py::dict>(PyDict_Copy(dict.ptr()));
  py::dict copy;
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  while (PyDict_Next(dict.ptr(), &position, &key, &value) != 0) {
    copy[py::handle(key)] = py::handle(value);
  }
  return copy;
}

py::list refresh(const py::list& holders, const py::list& copies) {
  py::list changed;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(holders.ptr()); ++i) {
    const py::handle holder = PyList_GET_ITEM(holders.ptr(), i);
    const auto held = py::reinterpret_borrow<py::object>(PyTuple_GET_ITEM(holder.ptr(), 1));
    const py::handle copy = PyList_GET_ITEM(copies.ptr(), i);
    if (PyTuple_Check(copy.ptr())) {
      refresh_list(held, copies, static_cast<std::size_t>(i));
      continue;
    }
    py::object now = content_of(held);
    if (hold_the_same(now.ptr(), copy.ptr())) continue;
    if (now.is(held)) now = copy_of(held);
    copies[static_cast<std::size_t>(i)] = now;
    changed.append(i);
  }
  return changed;
}

// Facts about a code object. It is never released, so its address is not reused.
struct KnownCode {
  py::object held;
  py::object first;  // name of its first variable, usually `self`; None if it has none
  bool users = false;
};

const KnownCode& known_code(const py::object& frame) {
  // Never destroyed, because the interpreter may already have exited. A program has a limited
  // number of code objects.
  static auto& known = *new std::unordered_map<PyObject*, KnownCode>;
  const py::object code = code_of(frame);
  const auto it = known.find(code.ptr());
  if (it != known.end()) return it->second;
  const py::tuple names = code.attr("co_varnames");
  const py::object first = names.empty() ? py::object(py::none()) : py::object(names[0]);
  auto* object = reinterpret_cast<PyCodeObject*>(code.ptr());
  const KnownCode found{code, first, is_user_code(object)};
  return known.emplace(code.ptr(), found).first->second;
}

py::handle name_of(const py::handle& variable) {
  return PyTuple_GET_ITEM(variable.ptr(), 0);
}
py::handle value_of(const py::handle& variable) {
  return PyTuple_GET_ITEM(variable.ptr(), 1);
}

// Returns the value of the variable of that name, or null.
py::handle value_of(const py::list& variables, const py::handle& name) {
  for (const py::handle variable : variables) {
    if (name_of(variable).is(name)) return value_of(variable);
  }
  return {};
}

class Frames {
 public:
  py::list unseen() {
    py::list found;
    py::object frame = current_frame();
    bool innermost = true;
    for (int depth = 0; frame && depth < kMostFrames; ++depth) {
      const KnownCode& code = known_code(frame);
      if (code.users) {
        if (std::exchange(innermost, false) && has_gone_on(frame, code)) break;
        py::list variables = variables_of(frame);
        const py::handle owner = value_of(variables, code.first);
        // Frames outside of a known frame are known as well.
        if (!seen_.emplace(frame.ptr(), code.held.ptr(), owner.ptr()).second) break;
        found.append(py::make_tuple(globals_of(frame), std::move(variables)));
      }
      frame = caller_of(frame);
    }
    return found;
  }

 private:
  // Returns whether the innermost frame is the call that was last visited, further in.
  bool has_gone_on(const py::object& frame, const KnownCode& code) {
    const int come = position_of(frame);
    const auto [last_frame, last_code, done] =
        std::exchange(last_, {frame.ptr(), code.held.ptr(), come});
    return last_frame == frame.ptr() && last_code == code.held.ptr() && done < come;
  }

  // By address only. If a frame reuses an address, its code or its caller differ.
  std::set<std::tuple<PyObject*, PyObject*, PyObject*>> seen_;
  std::tuple<PyObject*, PyObject*, int> last_{nullptr, nullptr, -1};
};

}  // namespace

void bind_program(py::module_& module) {
  module.def("refresh", &refresh, py::arg("holders"), py::arg("copies"));
  py::class_<Frames>(module, "Frames").def(py::init<>()).def("unseen", &Frames::unseen);
}

}  // namespace leapp::python
