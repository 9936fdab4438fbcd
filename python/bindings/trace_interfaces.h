// Implements the interfaces of a session and of an export in Python.
#pragma once

#include <pybind11/pybind11.h>

#include "session/external_backend.h"
#include "session/front_end_interface.h"

namespace leapp::python {

/// Returns the front end of sessions that Python starts: leapp._holders, leapp._numpy,
/// leapp._numbers and leapp._rerun, imported at their first use. Its methods take the interpreter
/// lock.
session::FrontEnd& python_front_end();

/// Begins a session in that front end: returns globals and variables of the program's frames. From
/// then on it passes only other frames to leapp._holders.
pybind11::list begin_frames();

/// Returns PyTorch's own exporters, through leapp._bridge, in the same way.
session::ExternalBackend& python_backend();

}  // namespace leapp::python
