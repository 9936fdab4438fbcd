// A comparison as JSON, in the form that docs/reference/bundle.md has for validation.json.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "leapp/comparison.h"
#include "leapp/visibility.h"

namespace leapp {

/// Returns everything except the name of the compared value.
LEAPP_EXPORT nlohmann::ordered_json to_json(const Comparison& comparison);

}  // namespace leapp
