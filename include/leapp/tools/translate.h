// Adds to an existing bundle what compile_graph() adds to its own: the ONNX translations of its
// TorchScript nodes (rule B42) and the statement about merged nodes (B43). Both make a tick faster.
// For bundles of other exporters.
//
//   const leapp::BundleTranslation done = leapp::translate_bundle("walker/walker.yaml");
//   for (const leapp::NodeTranslation& node : done.nodes) {
//     if (!node.left_out.empty()) std::cout << node.node << ": " << node.left_out << "\n";
//   }
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

/// A TorchScript node that had no translation.
struct NodeTranslation {
  std::string node;
  std::string left_out;  ///< reason why it still has none; empty if it has one now
};

struct BundleTranslation {
  std::vector<NodeTranslation> nodes;
  std::optional<std::vector<std::vector<std::string>>> merged;  ///< Pipeline::merged afterwards
  bool changed = false;                                         ///< the bundle was written
};

/// Adds translations and the statement to the bundle, in its directory. First runs the bundle as it
/// is, in libtorch, on the inputs of its golden ticks and on made-up ones; a translation or merged
/// group is added only if it repeats every node's results, within the tolerance of the golden
/// traces or the default one.
///
/// Replaces the bundle completely or not at all. Removes validation.json, which described the
/// previous files. Keys of the YAML that the format does not define are not kept.
///
/// Loads libleapp.so and PyTorch. Throws Error: kNoEngine if they are missing, and the errors of
/// loading, running and writing a bundle.
LEAPP_EXPORT BundleTranslation translate_bundle(const std::filesystem::path& yaml,
                                                const BundleOptions& options = {});

}  // namespace leapp
