// Keeps the values of a port within its limits, and below its rate.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "leapp/contract.h"

namespace leapp {

/// Allocates when it is made, never in apply().
class Limiter {
 public:
  struct Outcome {
    bool clamped = false;
    bool slewed = false;
    bool stop = false;  ///< a limit was exceeded that says so; the values are clamped all the same
  };

  Limiter() = default;
  /// For `count` elements and a step of `dt` seconds between two calls.
  Limiter(const std::optional<Limits>& limits, std::size_t count, double dt);

  /// Narrows the bounds of one element.
  void narrow(std::size_t element, double lower, double upper);

  bool active() const noexcept { return active_; }

  /// Forgets the values before: the next ones may be any within the bounds.
  void forget() noexcept { has_previous_ = false; }
  /// Says what the values before were.
  void remember(std::span<const double> values) noexcept;

  Outcome apply(std::span<double> values) noexcept;

 private:
  std::vector<double> lower_;
  std::vector<double> upper_;
  std::vector<double> step_;  // empty without a rate
  std::vector<double> previous_;
  OnViolation on_violation_ = OnViolation::kClamp;
  bool active_ = false;
  bool has_previous_ = false;
};

}  // namespace leapp
