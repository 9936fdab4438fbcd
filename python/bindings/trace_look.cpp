#include "trace_look.h"

#include <Python.h>
#include <frameobject.h>

#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace py = pybind11;

namespace leapp::python {
namespace {

// How far outwards frames are looked at, whoever's they are; the innermost are LEAPP's own.
constexpr int kMostFrames = 16;

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

py::list refresh(const py::list& values, const py::list& copies) {
  py::list changed;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const py::object held = values[i];
    const bool is_dict = PyDict_CheckExact(held.ptr());
    py::object now = is_dict ? held : held.attr("copy")();
    if (hold_the_same(now.ptr(), py::object(copies[i]).ptr())) continue;
    if (is_dict) now = py::reinterpret_steal<py::object>(PyDict_Copy(held.ptr()));
    copies[i] = now;
    changed.append(i);
  }
  return changed;
}

py::dict contents_of(const py::list& lists) {
  py::dict contents;
  for (const py::handle list : lists) {
    PyObject* items = PySequence_List(list.ptr());
    if (items == nullptr) throw py::error_already_set();
    contents[py::reinterpret_steal<py::object>(PyLong_FromVoidPtr(list.ptr()))] =
        py::reinterpret_steal<py::object>(items);
  }
  return contents;
}

// What is known of a code object, which is held: no other takes its place.
struct Code {
  py::object held;
  py::object first;  // the name of its first variable, usually `self`; None if it has none
  bool users = false;
};

const Code& known_code(const py::object& code, const py::object& globals,
                       const py::object& is_users) {
  // Never destroyed: the interpreter may be gone by then. A program has only so many.
  static auto& known = *new std::unordered_map<PyObject*, Code>;
  const auto it = known.find(code.ptr());
  if (it != known.end()) return it->second;
  const py::tuple names = code.attr("co_varnames");
  const py::object first = names.empty() ? py::object(py::none()) : py::object(names[0]);
  const bool users = is_users(code, globals).cast<bool>();
  return known.emplace(code.ptr(), Code{code, first, users}).first->second;
}

class Frames {
 public:
  explicit Frames(py::object is_users) : is_users_(std::move(is_users)) {}

  py::list unseen() {
    py::list found;
    py::object frame = py::reinterpret_borrow<py::object>(
        reinterpret_cast<PyObject*>(PyEval_GetFrame()));  // null outside of Python
    bool innermost = true;
    for (int depth = 0; frame && depth < kMostFrames; ++depth, frame = outer_of(frame)) {
      const auto code = py::reinterpret_steal<py::object>(
          reinterpret_cast<PyObject*>(PyFrame_GetCode(as_frame(frame))));
      const py::object globals = frame.attr("f_globals");
      const Code& known = known_code(code, globals, is_users_);
      if (!known.users) continue;
      if (std::exchange(innermost, false) && has_gone_on(frame, code)) break;
      py::object variables = frame.attr("f_locals");
      const py::object owner =
          known.first.is_none() ? py::object(py::none()) : variables.attr("get")(known.first);
      if (!seen_.emplace(frame.ptr(), code.ptr(), owner.ptr()).second) break;
      found.append(py::make_tuple(globals, std::move(variables)));
    }
    return found;
  }

 private:
  static PyFrameObject* as_frame(const py::object& frame) {
    return reinterpret_cast<PyFrameObject*>(frame.ptr());
  }
  static py::object outer_of(const py::object& frame) {
    return py::reinterpret_steal<py::object>(
        reinterpret_cast<PyObject*>(PyFrame_GetBack(as_frame(frame))));
  }

  // Whether the innermost frame is the call that was last looked at, further down.
  bool has_gone_on(const py::object& frame, const py::object& code) {
    const auto come = frame.attr("f_lasti").cast<long>();
    const auto before = std::exchange(last_, {frame.ptr(), code.ptr(), come});
    return std::get<0>(before) == frame.ptr() && std::get<1>(before) == code.ptr() &&
           std::get<2>(before) < come;
  }

  py::object is_users_;
  // By address only. A frame that took another's place is told by what it runs and for whom.
  std::set<std::tuple<PyObject*, PyObject*, PyObject*>> seen_;
  std::tuple<PyObject*, PyObject*, long> last_{nullptr, nullptr, -1};
};

}  // namespace

void bind_look(py::module_& module) {
  module.def("refresh", &refresh, py::arg("values"), py::arg("copies"));
  module.def("contents_of", &contents_of, py::arg("lists"));
  py::class_<Frames>(module, "Frames")
      .def(py::init<py::object>(), py::arg("is_users"))
      .def("unseen", &Frames::unseen);
}

}  // namespace leapp::python
