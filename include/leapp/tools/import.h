// Turns a policy that another project exported into a bundle: an ONNX file and its trainer's
// description of the deployment, in the metadata of the file or in a YAML file next to it.
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
  /// unitree_rl_lab's deploy.yaml or rl_sar's config.yaml. Empty: the model's metadata say it.
  std::filesystem::path deploy = {};
  /// Keys that the description lacks, or whose values are to be replaced, as a comma-separated
  /// list where it is one: {"joint_names", "hip,knee"}. One that the format has no use for is an
  /// error.
  std::vector<std::pair<std::string, std::string>> settings = {};
};

struct ImportedPolicy {
  Bundle bundle;       ///< as written; `bundle.file` is its YAML
  std::string format;  ///< "mjlab", "beyondmimic", "holosoma", "exploy", "unitree_rl_lab", "rl_sar"
  /// Assumptions and translations, one sentence each.
  std::vector<std::string> notes;
};

/// Imports `model` into the folder `target`, whose last part names the bundle. Reads the files once
/// and opens no model; calls are independent of each other.
///
/// Throws Error, and leaves what is in `target` as it was: LP821 where nothing says how to deploy
/// the model, LP822 for a key that is missing, LP823 for a value that cannot be, LP824 where the
/// model does not fit; kNotFound and kIo for files, LP617 for a broken model, LP003 where `target`
/// is the folder of the model.
LEAPP_EXPORT ImportedPolicy import_onnx(const std::filesystem::path& model,
                                        const std::filesystem::path& target,
                                        const ImportOptions& options = {});

}  // namespace leapp
