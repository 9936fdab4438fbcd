// Numbers for a page. Seven digits identify a float and keep the page small.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace leapp::view {

/// Returns the number with seven digits. Values that JSON cannot express are strings: "NaN", "Inf",
/// "-Inf".
inline nlohmann::ordered_json short_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Inf" : "Inf";
  char text[32];
  std::snprintf(text, sizeof(text), "%.7g", value);
  return std::strtod(text, nullptr);
}

}  // namespace leapp::view
