// Runs what a controller recorded again, and says where the policy now answers differently.
//
//   const leapp::ReplayReport report = leapp::replay("run.mcap", "walker/walker.yaml");
//   if (report.difference) blame(report.difference->port, report.difference->tick);
//
// The recording of a supervisor has the ports of several policies: ReplayOptions::policy names one.
//
// For set-up and desks; allocates, reads files, throws Error: what InferenceManager throws, LP655
// for a recording that cannot be read, holds no ports of the bundle, or has gaps.
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
  RuntimeOptions runtime = {};
  /// Of computed values against those recorded. Two processors may round differently; the same one
  /// does not.
  Tolerance tolerance = kReplayed;
  /// The policy of a supervisor's recording; empty for a controller's.
  std::string policy = {};
};

/// The first element that differs.
struct ReplayDifference {
  std::uint64_t tick = 0;  ///< of the loop, as recorded
  std::string port;        ///< "policy/action"
  std::size_t element = 0;
  double recorded = 0;
  double computed = 0;
};

struct ReplayReport {
  std::uint64_t ticks = 0;  ///< of the policy, that were run
  std::optional<ReplayDifference> difference = {};
};

/// Stops at the first tick that differs.
LEAPP_EXPORT ReplayReport replay(const std::filesystem::path& recording,
                                 const std::filesystem::path& bundle,
                                 const ReplayOptions& options = {});

}  // namespace leapp
