// JSON from other programs, such as reports and recordings.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "leapp/visibility.h"

namespace leapp {

/// Returns the value of the text. The value is discarded (`is_discarded()`) if the text is not
/// JSON, or nests deeper than 100 levels: copying and writing are recursive, and a file must not
/// choose the depth. Throws nothing but std::bad_alloc.
LEAPP_EXPORT nlohmann::ordered_json parse_json(std::string_view text);

}  // namespace leapp
