// The part of looking around a node that happens in the middle of the user's control loop, and so
// has to be quick. What is found is judged in Python, see leapp/_program.py.
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
/// - `running(way_to_compare)` returns the plain values in the variables of the program's functions
///   around the caller: (code, values by name), by (id of the code, how many calls of it are
///   further in). `way_to_compare(type)` returns what makes a plain value of one of that type, or
///   None.
void bind_program(pybind11::module_& module);

}  // namespace leapp::python
