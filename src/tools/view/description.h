// A bundle as the JSON data of the page.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "leapp/bundle.h"
#include "leapp/tools/view.h"

namespace leapp::view {

/// Returns the whole page's data; view.h documents its errors.
nlohmann::ordered_json describe(const Bundle& bundle, const ViewOptions& options);

}  // namespace leapp::view
