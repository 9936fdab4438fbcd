#include "trace_program.h"

#include <Python.h>

#include <algorithm>
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

// How far outwards frames are looked at, whoever's they are; the innermost are LEAPP's own.
constexpr int kMostFrames = 16;

// How much of a list is looked at.
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

// The items of a list, tuple or deque, up to that many.
py::list items_of(const py::handle& sequence, Py_ssize_t most) {
  py::list items;
  for (Py_ssize_t i = 0; i < most; ++i) {
    PyObject* item = PySequence_GetItem(sequence.ptr(), i);
    if (item == nullptr) throw py::error_already_set();
    items.append(py::reinterpret_steal<py::object>(item));
  }
  return items;
}

bool begins_with(const py::handle& list, const py::handle& items) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.ptr()); ++i) {
    if (PyList_GET_ITEM(list.ptr(), i) != PyList_GET_ITEM(items.ptr(), i)) return false;
  }
  return true;
}

// Replaces the copy of what a list, tuple, deque or set held: its length, and the first items.
void refresh_list(const py::object& list, py::list copies, std::size_t at) {
  if (PyTuple_Check(list.ptr())) return;  // which do not change
  const Py_ssize_t length = PyObject_Size(list.ptr());
  if (length < 0) throw py::error_already_set();
  if (PyList_Check(list.ptr())) {
    const py::tuple known = copies[at];
    if (known[0].cast<Py_ssize_t>() == length && begins_with(list, known[1])) return;
  }
  const Py_ssize_t most = PyAnySet_Check(list.ptr()) ? 0 : kMostItems;  // which have no order
  copies[at] = py::make_tuple(length, items_of(list, std::min(length, most)));
}

py::list refresh(const py::list& holders, const py::list& copies) {
  py::list changed;
  for (std::size_t i = 0; i < holders.size(); ++i) {
    const py::object held = py::tuple(holders[i])[1];
    if (PyTuple_Check(py::object(copies[i]).ptr())) {
      refresh_list(held, copies, i);
      continue;
    }
    const bool is_dict = PyDict_Check(held.ptr());
    py::object now = is_dict ? held : py::dict(held);
    if (hold_the_same(now.ptr(), py::object(copies[i]).ptr())) continue;
    if (is_dict) now = py::reinterpret_steal<py::object>(PyDict_Copy(held.ptr()));
    copies[i] = now;
    changed.append(i);
  }
  return changed;
}

// What is known of a code object, which is held: no other takes its place.
struct KnownCode {
  py::object held;
  py::object first;  // the name of its first variable, usually `self`; None if it has none
  bool users = false;
};

const KnownCode& known_code(const py::object& frame) {
  // Never destroyed: the interpreter may be gone by then. A program has only so many.
  static auto& known = *new std::unordered_map<PyObject*, KnownCode>;
  const py::object code = code_of(frame);
  const auto it = known.find(code.ptr());
  if (it != known.end()) return it->second;
  const py::tuple names = code.attr("co_varnames");
  const py::object first = names.empty() ? py::object(py::none()) : py::object(names[0]);
  const bool users = is_user_code(reinterpret_cast<PyCodeObject*>(code.ptr()));
  return known.emplace(code.ptr(), KnownCode{code, first, users}).first->second;
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
        py::object variables = variables_of(frame);
        const py::object owner =
            code.first.is_none() ? code.first : variables.attr("get")(code.first);
        // What lies outside of a known frame is known as well.
        if (!seen_.emplace(frame.ptr(), code.held.ptr(), owner.ptr()).second) break;
        found.append(py::make_tuple(globals_of(frame), std::move(variables)));
      }
      frame = caller_of(frame);
    }
    return found;
  }

 private:
  // Whether the innermost frame is the call that was last looked at, further down.
  bool has_gone_on(const py::object& frame, const KnownCode& code) {
    const int come = position_of(frame);
    const auto [last_frame, last_code, done] =
        std::exchange(last_, {frame.ptr(), code.held.ptr(), come});
    return last_frame == frame.ptr() && last_code == code.held.ptr() && done < come;
  }

  // By address only. A frame that took another's place is told by what it runs and for whom.
  std::set<std::tuple<PyObject*, PyObject*, PyObject*>> seen_;
  std::tuple<PyObject*, PyObject*, int> last_{nullptr, nullptr, -1};
};

}  // namespace

void bind_program(py::module_& module) {
  module.def("refresh", &refresh, py::arg("holders"), py::arg("copies"));
  py::class_<Frames>(module, "Frames").def(py::init<>()).def("unseen", &Frames::unseen);
}

}  // namespace leapp::python
