// InferenceManager for Python: dicts of arrays in and out.
#pragma once

#include <pybind11/pybind11.h>

namespace leapp::python {

void bind_manager(pybind11::module_& module);

}  // namespace leapp::python
