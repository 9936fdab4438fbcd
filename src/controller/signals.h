// The robot's side of a controller: the memory of its sensors and actuators, and when they were
// measured.
#pragma once

#include <chrono>
#include <limits>
#include <span>
#include <vector>

#include "leapp/robot.h"

namespace leapp {

/// A signal's values. Nothing moves or allocates after it was made.
struct SignalValues {
  static constexpr std::chrono::nanoseconds kNever = std::chrono::nanoseconds::min();

  std::vector<double> values;
  std::chrono::nanoseconds measured = kNever;
  std::chrono::nanoseconds age{0};  // of a fresh value, when it was set
  bool fresh = false;               // set since the last tick of the loop

  /// Gives a value that was set since the last tick its time.
  void stamp(std::chrono::nanoseconds now) noexcept {
    if (!fresh) return;
    fresh = false;
    measured = now - age;
  }
};

inline std::vector<SignalValues> make_values(const std::vector<Signal>& signals) {
  std::vector<SignalValues> result(signals.size());
  for (std::size_t i = 0; i < signals.size(); ++i) {
    result[i].values.resize(signals[i].elements.size());
  }
  return result;
}

}  // namespace leapp
