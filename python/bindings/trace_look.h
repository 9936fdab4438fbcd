// The part of looking around a node that happens in the middle of the user's control loop, and so
// has to be quick. What is found is judged in Python, see leapp/_reachable.py.
#pragma once

#include <pybind11/pybind11.h>

namespace leapp::python {

/// Adds what _reachable.py needs to the module:
/// - `refresh(values, copies)` compares dicts with copies of them by the identity of what they
///   hold, replaces the copies that are old, and returns their indices. What is no dict is asked
///   for a copy of itself.
/// - `contents_of(lists)` returns the items of each list, tuple or deque in a list of its own, by
///   the id of the former.
/// - `Frames(is_users)` remembers the frames that were looked at. `unseen()` returns (globals,
///   variables) of the user's frames that were not, from the caller outwards; `is_users(code,
///   globals)` is asked once for each code object.
void bind_look(pybind11::module_& module);

}  // namespace leapp::python
