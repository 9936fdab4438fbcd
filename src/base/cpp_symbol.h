// The function that a generated C++ source defines (leapp/cpp_model.h).
#pragma once

#include <string>

#include "leapp/visibility.h"

namespace leapp {

/// "leapp_cpp_left_20arm" for node "left arm": a C identifier, another one for every name.
LEAPP_EXPORT std::string cpp_symbol(const std::string& node);

}  // namespace leapp
