// Engines written in Python, so a backend that only Python supports (pt2) runs like any other.
#pragma once

#include <pybind11/pybind11.h>

#include "leapp/engine.h"

namespace leapp::python {

/// Returns a factory that calls `load(node, path)` for an object with a method `bind(inputs,
/// outputs)`. Each of its arguments is a list of (memoryview, dtype name, shape) over the buffers
/// of the ports; it returns a function without arguments that runs the model on them.
EngineFactory python_engine(pybind11::object load);

/// Lets TorchScript models import Python's torch before they are loaded: the engine's plugin needs
/// its libtorch.
void import_torch_for_torchscript(EngineRegistry& engines);

}  // namespace leapp::python
