// Runs a bundle again on the recording of a controller, and reports the first different result.
//
//   const leapp::ReplayReport report = leapp::replay("run.mcap", "walker/walker.yaml");
//   if (report.difference) blame(report.difference->port, report.difference->tick);
//
// A recording of a supervisor contains the ports of several policies; ReplayOptions::policy selects
// one.
//
// Not for real time: allocates, reads files, and throws the errors of InferenceManager, and LP655
// for a recording that cannot be read, contains no ports of the bundle, or has gaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "leapp/inference_manager.h"
#include "leapp/tolerance.h"
#include "leapp/visibility.h"

namespace leapp {

struct ReplayOptions {
  RuntimeOptions runtime = {};  ///< the noise seed is that of the recording
  /// Tolerance for computed against recorded values. Results differ only between processors, which
  /// may round differently.
  Tolerance tolerance = kReplayed;
  /// The policy in a supervisor's recording; empty for a controller's.
  std::string policy = {};
};

/// The first element that differs.
struct ReplayDifference {
  std::uint64_t tick = 0;  ///< tick of the loop, as recorded
  std::string port;        ///< "policy/action"
  std::size_t element = 0;
  double recorded = 0;
  double computed = 0;
};

struct ReplayReport {
  std::uint64_t ticks = 0;  ///< number of ticks of the policy that were run
  std::optional<ReplayDifference> difference = {};
};

/// Stops at the first tick that differs.
LEAPP_EXPORT ReplayReport replay(const std::filesystem::path& recording,
                                 const std::filesystem::path& bundle,
                                 const ReplayOptions& options = {});

}  // namespace leapp
