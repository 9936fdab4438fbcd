// Importing policies of other projects, for Python.
#pragma once

#include <pybind11/pybind11.h>

namespace leapp::python {

void bind_import(pybind11::module_& module);

}  // namespace leapp::python
