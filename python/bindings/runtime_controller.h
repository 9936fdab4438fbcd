// leapp._runtime.Controller: a bundle on a robot.
#pragma once

#include <pybind11/pybind11.h>

namespace leapp::python {

void bind_controller(pybind11::module_& module);

}  // namespace leapp::python
