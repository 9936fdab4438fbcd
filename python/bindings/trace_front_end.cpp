// Requests and reports of the Python front end to the session.
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/pybind.h>

#include <optional>
#include <string>

#include "session/front_end.h"
#include "trace/dispatcher.h"
#include "trace_bind.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

/// Hides the thread's operators inside a Python with statement, in which traced values are shown or
/// compared.
class UnobservedScope {
 public:
  UnobservedScope& enter() {
    guard_.emplace();
    ++depth_;
    return *this;
  }
  void exit(const py::args&) {
    --depth_;
    guard_.reset();
  }
  static bool entered() noexcept { return depth_ > 0; }

 private:
  std::optional<trace::Unobserved> guard_;
  static thread_local int depth_;
};

thread_local int UnobservedScope::depth_ = 0;

bool is_traced(const at::Tensor& tensor) {
  return !UnobservedScope::entered() && front_end::is_traced(tensor);
}
void note_size(const at::Tensor& tensor) {
  if (!UnobservedScope::entered()) front_end::note_size(tensor);
}
void note_escape(const at::Tensor& tensor, const std::string& text, bool pickled) {
  unlocked([&] { front_end::note_escape(tensor, pickled ? Code::kPickled : Code::kNumber, text); });
}

void note_foreign(const at::Tensor& tensor, bool written, const std::string& left_at) {
  unlocked([&] { front_end::note_foreign(tensor, written, left_at); });
}

// Called by every patched function.
PyObject* any_open_now(PyObject*, PyObject*) {
  return PyBool_FromLong(front_end::any_open());
}

PyMethodDef front_end_functions[] = {
    {"any_open", any_open_now, METH_NOARGS, "Return whether a pass of any node is open."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool is_unobserved() noexcept {
  return UnobservedScope::entered();
}

void bind_front_end(py::module_& module) {
  add_functions(module, front_end_functions);
  const auto node = py::arg("node");
  const auto tensor = py::arg("tensor");
  module.def("open_nodes", unlocked_call(&front_end::open_nodes));
  module.def("pass_of", unlocked_call(&front_end::pass_of), node);
  module.def("enter_function", unlocked_call(&front_end::enter_function), node);
  module.def("leave_function", unlocked_call(&front_end::leave_function), node);
  module.def("is_traced", unlocked_call(&is_traced), tensor);
  module.def("outside_of", unlocked_call(&front_end::outside_of), tensor);
  module.def("in_operator", &trace::is_hidden);
  module.def("note_made", unlocked_call(&front_end::note_made), tensor);
  module.def("note_size", unlocked_call(&note_size), tensor);
  module.def("note_escape", &note_escape, tensor, py::arg("text"), py::arg("pickled") = false);
  module.def("note_foreign", &note_foreign, tensor, py::arg("written"), py::arg("left_at"));
  py::class_<UnobservedScope>(module, "Unobserved")
      .def(py::init<>())
      .def("__enter__", &UnobservedScope::enter, py::return_value_policy::reference)
      .def("__exit__", &UnobservedScope::exit);
}

}  // namespace leapp::python
