// The durations of an export's phases.
#pragma once

#include <chrono>
#include <string>

namespace leapp::compile {

/// A stopwatch that runs from its construction on. Not thread-safe.
class PhaseTimes {
 public:
  using Clock = std::chrono::steady_clock;

  /// Ends the phase that began with the construction or with the end of the previous one.
  void end(const std::string& phase);
  Clock::time_point began() const noexcept { return began_; }
  /// Returns, for example, "0.33 s: state 0.02 s, graphs 0.31 s".
  std::string to_string() const;

 private:
  Clock::time_point began_ = Clock::now();
  Clock::time_point ended_ = began_;
  std::string phases_;
};

}  // namespace leapp::compile
