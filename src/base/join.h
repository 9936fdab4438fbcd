// Names in a message, one after the other.
#pragma once

#include <functional>
#include <string>

namespace leapp {

/// "policy, drive", or "none". `name` gives that of each; without it they are names themselves.
template <typename Range, typename Name = std::identity>
std::string join(const Range& range, Name name = {}) {
  std::string text;
  for (const auto& each : range) {
    if (!text.empty()) text += ", ";
    text += std::invoke(name, each);
  }
  return text.empty() ? "none" : text;
}

/// "'policy', 'drive'", or "none".
template <typename Range, typename Name = std::identity>
std::string join_quoted(const Range& range, Name name = {}) {
  return join(range, [&](const auto& each) { return "'" + std::invoke(name, each) + "'"; });
}

}  // namespace leapp
