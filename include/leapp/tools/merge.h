// Turns a bundle into one of a single node: one ONNX file that computes a whole tick.
//
//   leapp::merge_bundle("walker/walker.yaml", "merged/walker");
//
// writes merged/walker/walker.onnx, its walker.yaml and its initial values. The state that the
// pipeline fed back goes in and out as ports of that file, so that any ONNX runtime can run it.
//
//   leapp::write_policy("merged/walker/walker.yaml", "policy.onnx");
//
// writes what controllers of mjlab and BeyondMimic read: one observation, actions, metadata.
#pragma once

#include <filesystem>

#include "leapp/bundle.h"
#include "leapp/inference_manager.h"
#include "leapp/visibility.h"

namespace leapp {

/// Merges the bundle at `yaml` into the folder `target`, whose last part names the new bundle and
/// its node. A port "policy/obs" becomes "policy.obs". The merged graph is run on mock input and
/// compared with the nodes one by one. Returns the bundle that was written.
///
/// Throws Error(kValue) when not all nodes are ONNX models that can be merged, when they are larger
/// than 32 MiB together, when results differ, or when `target` is the bundle's own folder; what is
/// in `target` stands then.
LEAPP_EXPORT Bundle merge_bundle(const std::filesystem::path& yaml,
                                 const std::filesystem::path& target,
                                 const RuntimeOptions& options = {});

/// Writes a merged bundle as the policy of another project's controller: an ONNX file with the
/// input `obs` and the output `actions`, and metadata with the keys that mjlab and BeyondMimic
/// write and motion_tracking_controller reads. Each input of the bundle is an observation term,
/// unscaled; joint positions are relative to the bundle's default pose, and an action that is fed
/// back is the term `actions`. Joints, gains and pose come from what the bundle's ports and configs
/// say; the scale of actions is found by running it on mock input. Numbers are not rounded.
///
/// Throws Error, LP825, if such a controller cannot run the bundle: it has other state than its
/// last action, its joints or gains are not named, or its targets are not scaled actions.
LEAPP_EXPORT void write_policy(const std::filesystem::path& yaml, const std::filesystem::path& file,
                               const RuntimeOptions& options = {});

}  // namespace leapp
