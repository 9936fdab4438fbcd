// Runs exported models on what was traced and compares.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compile/compiled_node.h"
#include "leapp/node_outcome.h"
#include "validate/node_validation.h"

namespace leapp::compile {

/// Replays every node's file in `folder` on each of its passes, and logs the report. Nodes without
/// a model pass.
std::vector<NodeOutcome> validate_nodes(const std::vector<CompiledNode>& nodes,
                                        const std::filesystem::path& folder,
                                        const std::filesystem::path& log, Tolerance tolerance);

}  // namespace leapp::compile
