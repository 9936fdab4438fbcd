// Searches in a range that return a pointer or an index instead of an iterator.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>

namespace leapp {

/// Returns the first element for which the condition holds, or nullptr.
template <typename Range, typename Condition>
auto* find_where(Range&& range, Condition&& condition) {
  const auto it = std::ranges::find_if(range, condition);
  return it == std::ranges::end(range) ? nullptr : &*it;
}

/// Returns the first element that equals the value, or whose member does; or nullptr.
template <typename Range, typename Value, typename Part = std::identity>
auto* find_in(Range&& range, const Value& value, Part part = {}) {
  const auto it = std::ranges::find(range, value, part);
  return it == std::ranges::end(range) ? nullptr : &*it;
}

/// Returns the index of the first match in the range.
template <typename Range, typename Value, typename Part = std::identity>
std::optional<std::size_t> index_in(const Range& range, const Value& value, Part part = {}) {
  const auto it = std::ranges::find(range, value, part);
  if (it == std::ranges::end(range)) return std::nullopt;
  return static_cast<std::size_t>(it - std::ranges::begin(range));
}

}  // namespace leapp
