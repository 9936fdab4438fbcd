// The ONNX translations of an export's TorchScript models.
#pragma once

#include <filesystem>
#include <vector>

#include "base/checkpoint.h"
#include "leapp/bundle.h"
#include "leapp/comparison.h"
#include "rehearse/exported_node.h"
#include "rehearse/rollout.h"

namespace leapp::compile {

/// Translates every TorchScript model of the bundle that passed its validation, runs the
/// translation on every sample, and adds it to the model's file in `folder` if the results agree
/// with the traced ones. The file's checksums in `bundle` and in the node then change, and the
/// rollout's engine becomes that of the translation. The outcomes state what was left out, and why.
/// `checkpoint` is called before each model.
void add_translations(std::vector<rehearse::ExportedNode>& nodes,
                      const std::filesystem::path& folder, const Tolerance& tolerance,
                      const Checkpoint& checkpoint, rehearse::Rollout& rollout, Bundle& bundle);

}  // namespace leapp::compile
