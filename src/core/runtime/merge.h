// Merged execution: the nodes that run as one engine.
#pragma once

#include <memory>
#include <vector>

#include "bundle/merged_nodes.h"
#include "bundle/verified_files.h"
#include "leapp/bundle.h"
#include "leapp/engine.h"
#include "leapp/inference_manager.h"
#include "leapp/visibility.h"
#include "runtime/plan.h"

namespace leapp {

/// Proposes the steps of a pipeline: nodes in an order in which each producer runs before its
/// consumers. Nodes of one backend that can follow each other, run in the same ticks and have the
/// same engine options share a step, except the nodes in `single`.
LEAPP_EXPORT NodeGroups propose_steps(const Bundle& bundle, const RuntimeOptions& options,
                                      const std::vector<std::size_t>& single = {});

/// Returns the steps of a bundle that check() has accepted: the groups that it states (B43), except
/// those that the options keep apart, and all other nodes as single ones.
LEAPP_EXPORT NodeGroups stated_steps(const Bundle& bundle, const RuntimeOptions& options);

/// Returns the nodes of one step as a bundle of their own: wires that cross its border become
/// inputs and outputs. Feedback inside the step does too.
LEAPP_EXPORT Bundle isolate(const Bundle& bundle, const PlannedStep& step);

/// Loads the nodes of a merged step as one engine. Throws Error with the reason if that is not
/// possible. `separate` are the engines of the single nodes, in order.
std::unique_ptr<Engine> load_merged(const Bundle& bundle, const PlannedStep& step,
                                    const std::vector<std::unique_ptr<Engine>>& separate,
                                    const VerifiedFiles& files, const RuntimeOptions& options);

}  // namespace leapp
