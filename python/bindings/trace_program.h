// The fast part of the search for objects around a node: it runs in the middle of the user's
// control loop.
#pragma once

#include <pybind11/pybind11.h>

namespace leapp::python {

/// Adds `Frames()` to the module, for _holders.py. It remembers the frames that it returned;
/// `unseen()` returns globals, and (name, value) of the variables, of the program's other frames,
/// from the caller outwards.
void bind_program(pybind11::module_& module);

}  // namespace leapp::python
