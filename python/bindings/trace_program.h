// The fast part of the search for objects around a node: it runs in the middle of the user's
// control loop.
#pragma once

#include <pybind11/pybind11.h>

#include <set>
#include <tuple>

namespace leapp::python {

/// The program's frames that were visited. The interpreter lock must be held.
class Frames {
 public:
  /// Returns globals, and (name, value) of the variables, of the program's frames that were not
  /// returned before, from the caller outwards.
  pybind11::list unseen();

 private:
  bool has_gone_on(const pybind11::object& frame, const pybind11::object& code);

  // By address only. If a frame reuses an address, its code or its caller differ.
  std::set<std::tuple<PyObject*, PyObject*, PyObject*>> seen_;
  std::tuple<PyObject*, PyObject*, int> last_{nullptr, nullptr, -1};
};

/// Adds `frames()`, which returns all of them, and begin_frames() to the module.
void bind_program(pybind11::module_& module);

}  // namespace leapp::python
