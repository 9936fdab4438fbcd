// leapp._runtime.Supervisor: several bundles on one robot.
#pragma once

#include <pybind11/pybind11.h>

namespace leapp::python {

void bind_supervisor(pybind11::module_& module);

}  // namespace leapp::python
