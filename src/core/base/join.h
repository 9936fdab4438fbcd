// Names in a message, one after the other.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace leapp {

/// The most names that a message lists, and the longest that it shows whole.
inline constexpr std::size_t kMostNames = 64;
inline constexpr std::size_t kLongestName = 200;

/// "policy, drive", or "none". `name` gives that of each; without it they are names themselves.
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

/// "'policy', 'drive'", or "none".
template <typename Range, typename Name = std::identity>
std::string join_quoted(const Range& range, Name name = {}) {
  return join(range, [&](const auto& each) { return "'" + std::invoke(name, each) + "'"; });
}

}  // namespace leapp
