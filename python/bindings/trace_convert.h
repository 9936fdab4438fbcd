// Python's values as the values of the C++ tracing API.
#pragma once

#include <torch/csrc/utils/pybind.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "leapp/leapp.h"

namespace leapp::python {

/// Entries (name, tensor, semantics or None). Semantics are (kind, element names per dimension,
/// period of the time axis, additional keys).
NamedTensors to_named_tensors(const pybind11::sequence& entries);

/// Node, every, phase, repeat, carry, index, when, on_change and age.
using ScheduleTuple = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t,
                                 std::map<std::string, std::string>, std::string, std::string,
                                 std::vector<std::string>, std::map<std::string, std::string>>;

NodeSchedule to_schedule(const ScheduleTuple& entry);

/// Returns a dict as metadata: numbers, strings, bools, None, enum members, paths, NumPy scalars
/// and arrays, and lists and dicts of them. Throws an Error that starts with `what` for anything
/// else.
Metadata::Map to_metadata(const pybind11::dict& values, const std::string& what);

}  // namespace leapp::python
