// Times that saturate at the limits of 64-bit nanoseconds (292 years) instead of wrapping.
#pragma once

#include <chrono>

namespace leapp {

/// Adds two times that are not negative.
inline std::chrono::nanoseconds saturating_add(std::chrono::nanoseconds a,
                                               std::chrono::nanoseconds b) noexcept {
  constexpr auto kMost = std::chrono::nanoseconds::max();
  return a > kMost - b ? kMost : a + b;
}

/// Returns the time from `before` to `now`; zero if the clock stepped back.
inline std::chrono::nanoseconds steps_forward(std::chrono::nanoseconds before,
                                              std::chrono::nanoseconds now) noexcept {
  using std::chrono::nanoseconds;
  if (now <= before) return nanoseconds(0);
  if (before.count() < 0 && now > nanoseconds::max() + before) return nanoseconds::max();
  return now - before;
}

}  // namespace leapp
