// JSON that others wrote, such as reports and recordings.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "leapp/visibility.h"

namespace leapp {

/// The value of the text. It is discarded (`is_discarded()`) when the text is no JSON, and when it
/// nests deeper than 100: what copies or writes a value calls itself for each level, and a file
/// must not choose how deep. Throws nothing but std::bad_alloc.
LEAPP_EXPORT nlohmann::ordered_json parse_json(std::string_view text);

}  // namespace leapp
