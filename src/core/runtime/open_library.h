// Libraries of LEAPP that are opened on demand. Most of them need libtorch.
#pragma once

#include <string>

#include "leapp/visibility.h"

namespace leapp {

/// Opens a library in a directory of LEAPP_ENGINE_PATH, next to this one, or in a directory of the
/// system. A name with a slash is opened as it is. If the library needs libtorch, the one of
/// LIBTORCH_ROOT is used, then one that is loaded or found by the system, then that of the active
/// Python environment. Returns null if the library cannot be opened, and appends the reasons to
/// `tried`, one line each. The library stays open until the process ends.
LEAPP_EXPORT void* open_library(const std::string& library, std::string& tried);

}  // namespace leapp
