// Merged execution: the nodes that run as one, and the check of their results.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bundle/verified_files.h"
#include "leapp/bundle.h"
#include "leapp/engine.h"
#include "leapp/inference_manager.h"
#include "leapp/visibility.h"
#include "runtime/plan.h"

namespace leapp {

/// Returns the steps of a pipeline: nodes in an order in which each producer runs before its
/// consumers. With Merge::kAuto, nodes of one backend that can follow each other, run in the same
/// ticks and have the same engine options share a step.
LEAPP_EXPORT std::vector<std::vector<std::size_t>> choose_steps(const Bundle& bundle,
                                                                const RuntimeOptions& options);

/// Returns the nodes of one step as a bundle of their own: wires that cross its border become
/// inputs and outputs. Feedback inside the step does too.
LEAPP_EXPORT Bundle isolate(const Bundle& bundle, const PlannedStep& step);

/// Loads the nodes of a merged step as one engine. Returns nothing, with a line in the log, if that
/// is not possible or if the results on mock input differ from those of the single nodes, whose
/// engines are `separate`, in order.
std::unique_ptr<Engine> load_merged(const Bundle& bundle, const PlannedStep& step,
                                    const std::vector<std::unique_ptr<Engine>>& separate,
                                    const VerifiedFiles& files, const RuntimeOptions& options);

/// Loads the nodes of a merged step, but throws Error(kValue) with the reason.
LEAPP_EXPORT void prove_merged(const Bundle& bundle, const PlannedStep& step,
                               const std::vector<std::unique_ptr<Engine>>& separate,
                               const VerifiedFiles& files, const RuntimeOptions& options);

}  // namespace leapp
