// The proof that merged nodes give the same results as the single ones, on which the statement of a
// bundle about its merged nodes rests (B43).
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bundle/verified_files.h"
#include "leapp/bundle.h"
#include "leapp/engine.h"
#include "leapp/inference_manager.h"
#include "leapp/tensor.h"
#include "leapp/visibility.h"
#include "runtime/plan.h"

namespace leapp {

/// Inputs on which merged nodes are compared with single ones.
struct MergeSamples {
  std::size_t count = 0;
  /// Returns the value of an input that no node of the step writes in the same tick.
  std::function<Tensor(std::size_t sample, const PortRef& input)> input;
};

/// Number of made-up samples for models without recorded ones.
inline constexpr std::size_t kMockSamples = 10;

/// Returns made-up samples for any step of the bundle, which must outlive them.
LEAPP_EXPORT MergeSamples mock_samples(const Bundle& bundle, std::size_t count);

/// Loads the nodes of a merged step as one engine and compares it with the single nodes, whose
/// engines are `separate`, in order. Throws Error with the reason if nodes cannot be merged or if
/// an output differs in one sample.
LEAPP_EXPORT void prove_merged(const Bundle& bundle, const PlannedStep& step,
                               const std::vector<std::unique_ptr<Engine>>& separate,
                               const VerifiedFiles& files, const RuntimeOptions& options,
                               const MergeSamples& samples);

/// Returns the statement for a bundle whose models are in `folder`: the proposed steps that pass
/// prove_merged(). A line in the log gives the reason for the others. Returns nothing if no nodes
/// can be merged. `single` are indices of nodes without samples; `samples_of` is called with the
/// nodes of a step.
LEAPP_EXPORT std::optional<std::vector<std::vector<std::string>>> decide_merged(
    const Bundle& bundle, const std::filesystem::path& folder, const RuntimeOptions& options,
    const std::vector<std::size_t>& single,
    const std::function<MergeSamples(const std::vector<std::size_t>& nodes)>& samples_of);

}  // namespace leapp
