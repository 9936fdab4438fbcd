// Text output: aligned columns, times with a unit. And JSON for programs.
#pragma once

#include <chrono>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace leapp::cli {

/// Rows of cells as lines; the first column is left-aligned, the others as `right` says. Control
/// characters are escaped.
std::string table(std::vector<std::vector<std::string>> rows, bool right = true);

/// Returns "12.3 us", "1.24 ms".
std::string time_text(std::chrono::nanoseconds time);

/// Returns "1 node", "2 nodes".
std::string count_text(std::size_t count, const std::string& noun);

/// Indented, in ASCII. What is not UTF-8, such as a name from a broken model, has its bytes
/// replaced.
std::string json_text(const nlohmann::ordered_json& json);

/// Returns "float32 [1, 48]".
template <typename Port>
std::string type_text(const Port& port) {
  return std::string(name_of(port.dtype)) + " " + to_string(port.shape);
}

}  // namespace leapp::cli
