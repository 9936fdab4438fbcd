// The statement of an export about the nodes that run as one engine: B43.
#pragma once

#include <filesystem>
#include <vector>

#include "leapp/bundle.h"
#include "rehearse/exported_node.h"
#include "rehearse/rollout.h"

namespace leapp::compile {

/// Decides which nodes of the bundle are merged, and states it in the bundle. On every sample of
/// the rollout, merged nodes must give what the single ones give; the log states the others, and
/// why. Nodes without samples, without a translation to ONNX, or that failed their validation, stay
/// single. The models are in `folder`.
void state_merged(const std::vector<rehearse::ExportedNode>& nodes,
                  const std::filesystem::path& folder, const rehearse::Rollout& rollout,
                  Bundle& bundle);

}  // namespace leapp::compile
