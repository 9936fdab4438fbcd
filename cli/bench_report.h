// The results of `leapp bench`, as a table, as JSON and as a picture.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "leapp/inference_manager.h"

namespace leapp::cli {

struct BenchReport {
  std::string bundle;
  std::vector<std::string> steps;  ///< one line per step: its engine and device
  Statistics statistics;
  std::vector<std::chrono::nanoseconds> ticks;  ///< every tick, sorted
  std::chrono::nanoseconds load{0};
  std::optional<double> frequency;  ///< frequency of the pipeline, in Hz

  /// Returns the duration of a tick at that frequency.
  std::optional<std::chrono::nanoseconds> period() const;
  /// Returns the number of ticks that took longer.
  std::size_t misses() const;
  /// Returns an exact percentile of the ticks; `share` from 0 to 1.
  std::chrono::nanoseconds percentile(double share) const;
  /// Returns exact figures, computed from the ticks themselves.
  LatencySummary tick() const;
};

std::string to_text(const BenchReport& report);
std::string to_json(const BenchReport& report);
/// Returns the distribution of the ticks on a logarithmic axis, and the share of each step.
std::string to_svg(const BenchReport& report);

}  // namespace leapp::cli
