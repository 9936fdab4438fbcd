// Text output: aligned columns, times with a unit, and JSON.
#pragma once

#include <chrono>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace leapp::cli {

/// Formats rows of cells as lines. The first column is left-aligned, the others are aligned by
/// `right`. Escapes control characters.
std::string table(std::vector<std::vector<std::string>> rows, bool right = true);

/// Returns "12.3 us", "1.24 ms".
std::string time_text(std::chrono::nanoseconds time);

/// Returns "1 node", "2 nodes".
std::string count_text(std::size_t count, const std::string& noun);

/// Returns indented ASCII JSON. Replaces bytes that are not UTF-8, such as those in a name of a
/// broken model.
std::string json_text(const nlohmann::ordered_json& json);

/// Returns "float32 [1, 48]".
template <typename Port>
std::string type_text(const Port& port) {
  return std::string(name_of(port.dtype)) + " " + to_string(port.shape);
}

}  // namespace leapp::cli
