// How long the phases of an export took, for the line that ends it.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace leapp::compile {

/// A stopwatch; one thread.
class PhaseTimes {
 public:
  explicit PhaseTimes(std::string first) { next(std::move(first)); }

  /// Ends the phase that is on, and begins another.
  void next(std::string phase) { begun_.emplace_back(std::move(phase), Clock::now()); }

  /// "Compiled in 1.24 s: state 0.02 s, graphs 0.31 s, models 0.91 s"; the last one ends now.
  std::string text() const;

 private:
  using Clock = std::chrono::steady_clock;

  std::vector<std::pair<std::string, Clock::time_point>> begun_;
};

}  // namespace leapp::compile
