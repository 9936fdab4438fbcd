// The fast part of the search for objects around a node: it runs in the middle of the user's
// control loop.
#pragma once

#include <pybind11/pybind11.h>

namespace leapp::python {

/// Adds what _program.py needs to the module:
/// - `refresh(holders, copies)` compares what holders hold with copies of it, by the identity of
///   the items, and replaces the copies that are old. Of a list, tuple or deque a copy is (length,
///   the first items), of anything else a dict. Returns the indices of the dicts that had
///   changed.
/// - `Frames()` remembers the frames that were looked at. `unseen()` returns globals, and (name,
///   value) of the variables, of the program's frames that were not, from the caller outwards.
void bind_program(pybind11::module_& module);

}  // namespace leapp::python
