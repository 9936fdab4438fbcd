// Units that ports and robots may differ in.
#pragma once

#include <optional>
#include <string_view>

namespace leapp {

/// What a number in `from` is multiplied with to be one in `to`; empty when they measure different
/// things, or one of them is none of the units of docs/reference/controller.md. Equal texts give 1.
std::optional<double> unit_factor(std::string_view from, std::string_view to) noexcept;

}  // namespace leapp
