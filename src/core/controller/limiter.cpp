#include "controller/limiter.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace leapp {
namespace {

std::vector<double> spread(const std::vector<double>& numbers, std::size_t count, double none) {
  if (numbers.size() == count) return numbers;
  return std::vector<double>(count, numbers.empty() ? none : numbers.front());
}

}  // namespace

Bounds make_bounds(const std::optional<Limits>& limits, std::size_t count, double dt) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Limits given = limits.value_or(Limits{});
  Bounds bounds;
  bounds.lower = spread(given.lower, count, -kInfinity);
  bounds.upper = spread(given.upper, count, kInfinity);
  bounds.on_violation = given.on_violation;
  bounds.active = limits.has_value();
  if (given.rate.empty()) return bounds;
  bounds.step = spread(given.rate, count, kInfinity);
  for (double& step : bounds.step) step *= dt;
  return bounds;
}

void narrow(Bounds& bounds, std::size_t element, double lower, double upper) {
  bounds.lower[element] = std::max(bounds.lower[element], lower);
  bounds.upper[element] = std::min(bounds.upper[element], upper);
  bounds.active = true;
}

LimitOutcome limit(const Bounds& bounds, std::span<const double> previous,
                   std::span<double> values) noexcept {
  LimitOutcome outcome;
  if (!bounds.active) return outcome;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double within = std::min(std::max(values[i], bounds.lower[i]), bounds.upper[i]);
    outcome.clamped = outcome.clamped || within != values[i];
    values[i] = within;
    if (bounds.step.empty() || std::isnan(previous[i])) continue;
    const double near =
        std::min(std::max(within, previous[i] - bounds.step[i]), previous[i] + bounds.step[i]);
    outcome.slewed = outcome.slewed || near != within;
    values[i] = near;
  }
  outcome.stop = bounds.on_violation == OnViolation::kStop && (outcome.clamped || outcome.slewed);
  return outcome;
}

}  // namespace leapp
