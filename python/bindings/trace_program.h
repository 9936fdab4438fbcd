// The part of looking around a node that happens in the middle of the user's control loop, and so
// has to be quick. What is found is judged in Python, see leapp/_program.py.
#pragma once

#include <pybind11/pybind11.h>

namespace leapp::python {

/// Adds what _program.py needs to the module:
/// - `refresh(values, copies)` compares dicts with copies of them by the identity of what they
///   hold, replaces the copies that are old, and returns their indices. What is no dict is asked
///   for a copy of itself.
/// - `refresh_lists(lists, contents)` does so with lists, tuples and deques, given as (name, list)
///   by id. Of each, contents has (length, the first items); it is appended to where lists are new.
/// - `Frames()` remembers the frames that were looked at. `unseen()` returns (globals, variables)
/// of
///   the program's frames that were not, from the caller outwards.
void bind_program(pybind11::module_& module);

}  // namespace leapp::python
