// Runs exported models on what was traced and compares.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "leapp/node_outcome.h"
#include "session/wires.h"
#include "validate/node_validation.h"

namespace leapp::session {

/// What the sample has for an input of the model, by the model's port name; undefined if nothing.
at::Tensor sample_input(const CompiledNode& node, const Sample& sample, const std::string& port);

/// Replays every node's file in `folder` on each of its samples, and logs the report. Nodes without
/// a model pass.
std::vector<NodeOutcome> validate_nodes(const std::vector<CompiledNode>& nodes,
                                        const std::filesystem::path& folder,
                                        const std::filesystem::path& log, Tolerance tolerance);

}  // namespace leapp::session
