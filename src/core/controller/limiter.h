// Keeps the values of a port within its limits and its rate.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "leapp/contract.h"

namespace leapp {

/// The limits of one port, with one number for each element.
struct Bounds {
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<double> step;  ///< largest change between two values; empty without a rate
  OnViolation on_violation = OnViolation::kClamp;
  bool active = false;  ///< false if limit() changes nothing
};

/// Expands `limits` to `count` elements, for two values `dt` seconds apart. Allocates.
Bounds make_bounds(const std::optional<Limits>& limits, std::size_t count, double dt);

/// Narrows the range of one element.
void narrow(Bounds& bounds, std::size_t element, double lower, double upper);

struct LimitOutcome {
  bool clamped = false;  ///< a value was outside its range
  bool slewed = false;   ///< a value was further than a step from the previous one
  bool stop = false;     ///< either of them, and on_violation is stop
};

/// Moves each value into its range and then to within one step of `previous`. The step takes
/// precedence: from a previous value outside the range, the result approaches the range step by
/// step. NaN means that an element has no previous value; it may then be anywhere in its range.
/// Does not allocate.
LimitOutcome limit(const Bounds& bounds, std::span<const double> previous,
                   std::span<double> values) noexcept;

}  // namespace leapp
