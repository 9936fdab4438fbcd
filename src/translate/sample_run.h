// Runs of a bundle's nodes, as they are, for comparison with their translations.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/engine.h"
#include "leapp/tensor.h"
#include "leapp/tolerance.h"

namespace leapp::translate {

/// Values of a node in one tick, by port.
struct NodeSample {
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
};

/// Ticks of a bundle that ran one by one.
struct SampleRun {
  /// By tick, then by model of the bundle. Empty for nodes that did not run in the tick.
  std::vector<std::vector<std::optional<NodeSample>>> ticks;
  std::string ended;  ///< why the run ended early; empty if all ticks succeeded
};

/// Runs the bundle at `yaml` from its initial values, its TorchScript nodes in libtorch. External
/// inputs have the values of the golden ticks, and in `made_up` more ticks made-up values. Throws
/// the errors of loading a bundle, and kNoModel for one that cannot run.
SampleRun run_samples(const std::filesystem::path& yaml, const BundleOptions& options,
                      std::size_t made_up);

/// Runs one node of the bundle in another engine, on the inputs of every tick in which it ran.
/// Returns an empty string if its outputs agree within `tolerances`, one for each, otherwise the
/// first difference. Throws the errors of the engine.
std::string find_difference(const Bundle& bundle, const SampleRun& run, std::size_t node,
                            std::unique_ptr<Engine> engine,
                            const std::vector<Tolerance>& tolerances);

}  // namespace leapp::translate
