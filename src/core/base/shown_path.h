// Paths inside models, which must not reveal where a bundle was made.
//
// The console, the log and diagnostics show whole paths, which editors open; source lines inside
// models use this function.
#pragma once

#include <string>
#include <string_view>

#include "leapp/visibility.h"

namespace leapp {

/// Returns a file's path relative to the working directory; of an installed package, the path from
/// the package on; of any other file, only its name. A relative path, or text that is not a path
/// ("<stdin>"), is unchanged.
LEAPP_EXPORT std::string shown_path(std::string_view path);

}  // namespace leapp
