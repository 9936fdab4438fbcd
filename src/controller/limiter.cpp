#include "controller/limiter.h"

#include <algorithm>
#include <limits>

namespace leapp {
namespace {

std::vector<double> spread(const std::vector<double>& numbers, std::size_t count, double none) {
  if (numbers.size() == count) return numbers;
  return std::vector<double>(count, numbers.empty() ? none : numbers.front());
}

}  // namespace

Limiter::Limiter(const std::optional<Limits>& limits, std::size_t count, double dt)
    : previous_(count) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Limits given = limits.value_or(Limits{});
  lower_ = spread(given.lower, count, -kInfinity);
  upper_ = spread(given.upper, count, kInfinity);
  on_violation_ = given.on_violation;
  active_ = limits.has_value();
  if (given.rate.empty()) return;
  step_ = spread(given.rate, count, kInfinity);
  for (double& step : step_) step *= dt;
}

void Limiter::narrow(std::size_t element, double lower, double upper) {
  lower_[element] = std::max(lower_[element], lower);
  upper_[element] = std::min(upper_[element], upper);
  active_ = true;
}

void Limiter::remember(std::span<const double> values) noexcept {
  std::copy(values.begin(), values.end(), previous_.begin());
  has_previous_ = true;
}

Limiter::Outcome Limiter::apply(std::span<double> values) noexcept {
  Outcome outcome;
  if (!active_) return outcome;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double within = std::min(std::max(values[i], lower_[i]), upper_[i]);
    outcome.clamped = outcome.clamped || within != values[i];
    values[i] = within;
  }
  if (!step_.empty()) {
    for (std::size_t i = 0; has_previous_ && i < values.size(); ++i) {
      const double near =
          std::min(std::max(values[i], previous_[i] - step_[i]), previous_[i] + step_[i]);
      outcome.slewed = outcome.slewed || near != values[i];
      values[i] = near;
    }
    remember(values);
  }
  outcome.stop = on_violation_ == OnViolation::kStop && (outcome.clamped || outcome.slewed);
  return outcome;
}

}  // namespace leapp
