// Replays the golden traces of a loaded bundle: the work behind InferenceManager::verify().
#pragma once

#include "leapp/verification.h"
#include "runtime/loader.h"

namespace leapp {

/// Runs every tick through each node by itself, and through the pipeline in buffers of its own with
/// the engines of `loaded`. Throws Error: kNoGolden, kNoModel, and what loading and ticks throw.
Verification verify_golden(const LoadedBundle& loaded, const RuntimeOptions& options);

}  // namespace leapp
