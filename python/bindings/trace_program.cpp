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
#include "trace_interfaces.h"
#include "trace_internals.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

// Maximum number of frames that are searched; the innermost ones are LEAPP's own.
constexpr int kMostFrames = 16;

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

}  // namespace

py::list Frames::unseen() {
  py::list found;
  py::object frame = current_frame();
  bool innermost = true;
  for (int depth = 0; frame && depth < kMostFrames; ++depth) {
    const KnownCode& code = known_code(frame);
    if (code.users) {
      if (std::exchange(innermost, false) && has_gone_on(frame, code.held)) break;
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

// Returns whether the innermost frame is the call that was last visited, further in.
bool Frames::has_gone_on(const py::object& frame, const py::object& code) {
  const int come = position_of(frame);
  const auto [last_frame, last_code, done] = std::exchange(last_, {frame.ptr(), code.ptr(), come});
  return last_frame == frame.ptr() && last_code == code.ptr() && done < come;
}

void bind_program(py::module_& module) {
  module.def("frames", [] { return Frames().unseen(); });
  module.def("begin_frames", &begin_frames);
}

}  // namespace leapp::python
