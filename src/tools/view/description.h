// A bundle as the JSON that the page is made of.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "leapp/bundle.h"
#include "leapp/tools/view.h"

namespace leapp::view {

/// Returns the whole page's data; view.h has what it may throw.
nlohmann::ordered_json describe(const Bundle& bundle, const ViewOptions& options);

}  // namespace leapp::view
