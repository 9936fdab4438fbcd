// Python's values as the values of the C++ tracing API.
#pragma once

#include <torch/csrc/utils/pybind.h>

#include <string>

#include "leapp/leapp.h"

namespace leapp::python {

/// Entries (name, tensor, meaning or None); a meaning is (kind, element names per dimension, period
/// of the time axis, further keys).
NamedTensors to_named_tensors(const pybind11::sequence& entries);

/// Returns a dict as metadata. Numbers, text, booleans, None, enum members, paths, NumPy scalars
/// and arrays, and lists and dicts of them; anything else is an Error that starts with `what`.
Metadata::Map to_metadata(const pybind11::dict& values, const std::string& what);

}  // namespace leapp::python
