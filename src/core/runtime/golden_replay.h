// Replays the golden traces of a loaded bundle: the implementation of InferenceManager::verify().
#pragma once

#include <string>

#include "leapp/verification.h"
#include "runtime/loader.h"

namespace leapp {

/// Runs every tick through each node by itself, and through the pipeline, in separate buffers with
/// the engines of `loaded`. Throws Error: kNoGolden, kNoModel, and the errors of loading and ticks.
Verification verify_golden(const LoadedBundle& loaded, const RuntimeOptions& options);

/// Runs every tick through the pipeline alone. Returns an empty string if every merged step repeats
/// its outputs, otherwise the reason. Throws like verify_golden().
std::string find_unrepeated_step(const LoadedBundle& loaded, const RuntimeOptions& options);

}  // namespace leapp
