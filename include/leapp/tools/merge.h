// Merges a bundle into one node: one ONNX file that computes a whole tick.
//
//   leapp::merge_bundle("walker/walker.yaml", "merged/walker");
//
// writes merged/walker/walker.onnx, its walker.yaml and its initial values. Feedback state becomes
// input and output ports of that file, so any ONNX runtime can run it.
//
//   leapp::write_policy("merged/walker/walker.yaml", "policy.onnx");
//
// writes a policy file for the controllers of mjlab and BeyondMimic: one observation, actions,
// metadata.
#pragma once

#include <filesystem>

#include "leapp/bundle.h"
#include "leapp/inference_manager.h"
#include "leapp/visibility.h"

namespace leapp {

/// Merges the bundle at `yaml` into the directory `target`, whose last part names the new bundle
/// and its node. A port "policy/obs" becomes "policy.obs". Compares the merged graph with the
/// single nodes on mock input. Returns the new bundle.
///
/// Throws Error(kValue) if not all nodes are ONNX models that can be merged, if they are larger
/// than 32 MiB together, if results differ, or if `target` is the bundle's own directory. `target`
/// is then unchanged.
LEAPP_EXPORT Bundle merge_bundle(const std::filesystem::path& yaml,
                                 const std::filesystem::path& target,
                                 const RuntimeOptions& options = {});

/// Writes a merged bundle as the policy of another project's controller: an ONNX file with the
/// input `obs` and the output `actions`, and metadata with the keys that mjlab and BeyondMimic
/// write and motion_tracking_controller reads. Each input of the bundle is an observation term,
/// unscaled; joint positions are relative to the bundle's default pose, and an action that is fed
/// back is the term `actions`. Joints, gains and pose come from the bundle's ports and configs; the
/// scale of actions is measured on mock input. Numbers are not rounded.
///
/// Throws Error, LP825, if such a controller cannot run the bundle: it has state other than its
/// last action, its joints or gains are not named, or its targets are not scaled actions.
LEAPP_EXPORT void write_policy(const std::filesystem::path& yaml, const std::filesystem::path& file,
                               const RuntimeOptions& options = {});

}  // namespace leapp
