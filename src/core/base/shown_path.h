// Paths as a model may tell them: a file that is given away does not say where it was made.
//
// The console, the log and diagnostics show whole paths, which editors open; source lines inside of
// models go through here.
#pragma once

#include <string>
#include <string_view>

#include "leapp/visibility.h"

namespace leapp {

/// Returns a file's path relative to the working folder; of an installed package from the package
/// on; of any other file its name alone. A path that is relative already, or no path ("<stdin>"),
/// stays.
LEAPP_EXPORT std::string shown_path(std::string_view path);

}  // namespace leapp
