// Lists of names in a message.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace leapp {

/// The maximum number of names in a message, and the maximum length of a name.
inline constexpr std::size_t kMostNames = 64;
inline constexpr std::size_t kLongestName = 200;

/// Returns "policy, drive", or "none". `name` returns the name of an element; without it, the
/// elements are names.
template <typename Range, typename Name = std::identity>
std::string join(const Range& range, Name name = {}) {
  std::string text;
  std::size_t count = 0;
  for (const auto& each : range) {
    if (++count > kMostNames) continue;
    if (!text.empty()) text += ", ";
    const std::string shown(std::invoke(name, each));
    text += shown.size() <= kLongestName ? shown : shown.substr(0, kLongestName) + "..";
  }
  if (count > kMostNames) text += ", .. and " + std::to_string(count - kMostNames) + " more";
  return count == 0 ? "none" : text;
}

/// Returns "'policy', 'drive'", or "none".
template <typename Range, typename Name = std::identity>
std::string join_quoted(const Range& range, Name name = {}) {
  return join(range, [&](const auto& each) { return "'" + std::invoke(name, each) + "'"; });
}

}  // namespace leapp
