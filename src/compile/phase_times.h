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
  using Clock = std::chrono::steady_clock;

  explicit PhaseTimes(std::string first) { next(std::move(first)); }

  /// Ends the phase that is on, and begins another.
  void next(std::string phase);

  /// Ends the last phase. "Compiled in 1.24 s: state 0.02 s, graphs 0.31 s, models 0.91 s".
  std::string text();

 private:
  std::vector<std::pair<std::string, std::chrono::duration<double>>> done_;
  std::string phase_;
  Clock::time_point began_;
};

}  // namespace leapp::compile
