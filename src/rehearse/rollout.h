// Runs the bundle on the traced passes with feedback, and compares the results with the trace.
//
// Every model runs once for each pass of its node. Its inputs are the traced ones; its state comes
// from the models' previous runs, so a wrong hypothesis about state shows on the values that it was
// derived from. The value that a wire carries is compared with the input that was traced: if both
// agree, the whole pipeline repeats the passes. With a schedule, a wire carries what its rules say:
// the latest value of the source in this tick, or before it.
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
#include "state/ticks.h"

namespace leapp::rehearse {

/// One run of a model whose values were compared, on the host.
struct RolloutSample {
  std::size_t pass = 0;
  std::vector<at::Tensor> inputs;   ///< by port of the model: the traced values, or its own state
  std::vector<at::Tensor> outputs;  ///< the traced values, or its own if the pass has none
};

struct Rollout {
  std::vector<NodeOutcome> outcomes;  ///< one for each node; nodes without a model pass
  /// A warning about the first input that differs from its wire. A feedback input that has its
  /// initial value again, as at the start of an episode, does not count.
  std::optional<Diagnostic> difference;
  std::vector<Diagnostic> untrusted;  ///< warnings about models that load only with Trust::kCode
  std::vector<std::unique_ptr<Engine>> engines;  ///< engines of the models that ran; otherwise null
  std::vector<std::vector<RolloutSample>> samples;  ///< by node
};

/// Runs the models in `folder` and logs the report; `log` is the file with the details. `ticks` are
/// those of the bundle's schedule, if it has one. `external` runs models that no engine can;
/// without it they are not compared. `checkpoint` is called before each run.
Rollout roll_out(const std::vector<ExportedNode>& nodes, const Bundle& bundle,
                 const std::filesystem::path& folder, const std::filesystem::path& log,
                 const Tolerance& tolerance, const state::Ticks& ticks = {},
                 session::ExternalBackend* external = nullptr, const Checkpoint& checkpoint = {});

}  // namespace leapp::rehearse
