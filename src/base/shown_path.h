// Paths as a bundle may tell them: a folder that is given away does not say where it was made.
//
// The console shows whole paths, which editors open. What is written into a bundle (source lines of
// operators, the log, diagnostics) goes through here.
#pragma once

#include <string>
#include <string_view>

#include "leapp/visibility.h"

namespace leapp {

/// A file's path relative to the working folder; of an installed package from the package on; of
/// any other file its name alone. A path that is relative already, or no path ("<stdin>"), stays.
LEAPP_EXPORT std::string shown_path(std::string_view path);

/// The same for every absolute path in a text. The working folder itself becomes ".".
LEAPP_EXPORT std::string with_shown_paths(std::string_view text);

}  // namespace leapp
