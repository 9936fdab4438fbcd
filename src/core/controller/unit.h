// Units of ports and robots, and conversions between them.
#pragma once

#include <optional>
#include <string_view>

namespace leapp {

/// Returns the factor that converts a number from `from` to `to`; empty if they measure different
/// quantities, or one of them is not a unit of docs/reference/robot_yaml.md. Returns 1 for equal
/// strings.
std::optional<double> unit_factor(std::string_view from, std::string_view to) noexcept;

}  // namespace leapp
