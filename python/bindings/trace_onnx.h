// leapp.onnx: converters to ONNX written in Python.
#pragma once

#include <pybind11/pybind11.h>

namespace leapp::python {

void bind_onnx(pybind11::module_& module);

/// Unregisters the converters that are Python functions. Call it before the interpreter exits.
void remove_python_converters();

}  // namespace leapp::python
