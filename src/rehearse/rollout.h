// Runs the bundle over the traced passes, feedback closed, and compares with what was traced.
//
// Every model runs once for each pass of its node. Its inputs are those that were traced; its state
// is what the models before it left, so that a wrong hypothesis about state shows on the very
// values that it was made from. What a wire brings to an input is compared with what was taken in
// there: where both agree, the pipeline as a whole repeats the passes.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "base/checkpoint.h"
#include "leapp/engine.h"
#include "leapp/trace/node_outcome.h"
#include "rehearse/exported_node.h"
#include "session/external_backend.h"

namespace leapp::rehearse {

struct Rollout {
  std::vector<NodeOutcome> outcomes;  ///< one for each node; those without a model pass
  /// The first input, by pass, that was not what its wire carries, as a warning. A feedback input
  /// that holds its initial value again, as at the start of an episode, is no difference; nor is a
  /// wire between nodes that ran at different rates, which find_rates() names.
  std::optional<Diagnostic> difference;
  std::vector<std::unique_ptr<Engine>> engines;  ///< of the models that ran; else null
};

/// Runs the models in `folder` and logs the report; `log` is the file with the details. `external`
/// runs models that no engine can; without it they are not compared.
/// `checkpoint` is called before each run.
Rollout roll_out(const std::vector<ExportedNode>& nodes, const Bundle& bundle,
                 const std::filesystem::path& folder, const std::filesystem::path& log,
                 const Tolerance& tolerance, session::ExternalBackend* external = nullptr,
                 const Checkpoint& checkpoint = {});

}  // namespace leapp::rehearse
