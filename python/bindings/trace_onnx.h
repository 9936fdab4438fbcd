// leapp.onnx: converters to ONNX written in Python.
#pragma once

#include <pybind11/pybind11.h>

namespace leapp::python {

void bind_onnx(pybind11::module_& module);

/// Drops the converters that are Python functions; to be called before the interpreter goes away.
void remove_python_converters();

}  // namespace leapp::python
