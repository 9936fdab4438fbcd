// Converts a policy of another project to a bundle. The policy is an ONNX file and a description of
// its deployment, in the metadata of the file or in a YAML file next to it.
//
//   const leapp::ImportedPolicy policy = leapp::import_onnx("policy.onnx", "out/walker");
//   for (const std::string& note : policy.notes) std::cout << note << '\n';
//
// The bundle has three nodes: `observe` computes the observation from sensor values
// (offsets, order of joints, clip, scale, history), `policy` is the model, and `act` computes joint
// targets and gains from its action. Histories and the last action are state of the bundle.
// docs/howto/import/ has a page for each format: mjlab, BeyondMimic, holosoma, Exploy,
// unitree_rl_lab and rl_sar.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

struct ImportOptions {
  /// unitree_rl_lab's deploy.yaml or rl_sar's config.yaml. Empty: the model's metadata.
  std::filesystem::path deploy = {};
  /// Keys that are missing in the description or that replace its values. Lists are
  /// comma-separated: {"joint_names", "hip,knee"}. A key that the format does not use is an error.
  std::vector<std::pair<std::string, std::string>> settings = {};
};

struct ImportedPolicy {
  Bundle bundle;       ///< the bundle as written; `bundle.file` is its YAML file
  std::string format;  ///< "mjlab", "beyondmimic", "holosoma", "exploy", "unitree_rl_lab", "rl_sar"
  /// Assumptions and conversions, one sentence each.
  std::vector<std::string> notes;
};

/// Imports `model` into the directory `target`, whose last part names the bundle. Reads the files
/// once and runs no model. Calls are independent of each other.
///
/// Throws Error and leaves `target` unchanged: LP821 if there is no description, LP822 for a
/// missing key, LP823 for an invalid value, LP824 if the model does not match, kNotFound and kIo
/// for files, LP617 for a broken model, LP003 if `target` is the directory of the model.
LEAPP_EXPORT ImportedPolicy import_onnx(const std::filesystem::path& model,
                                        const std::filesystem::path& target,
                                        const ImportOptions& options = {});

}  // namespace leapp
