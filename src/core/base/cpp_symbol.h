// The function that a generated C++ source defines (leapp/cpp_model.h).
#pragma once

#include <string>

#include "leapp/visibility.h"

namespace leapp {

/// Returns "leapp_cpp_left_20arm" for node "left arm": a C identifier, different for every name. A
/// long name is truncated and ends in its hash, so that files can be named after the symbol.
LEAPP_EXPORT std::string cpp_symbol(const std::string& node);

}  // namespace leapp
