// Converts the observed sources of inputs to the wires of the bundle.
#pragma once

#include <string>
#include <vector>

#include "rehearse/exported_node.h"

namespace leapp::compile {

using rehearse::ExportedNode;

/// Returns the models of the nodes, which are in order of completion, with their wires and the
/// pipeline's inputs and outputs.
Bundle connect(const std::vector<ExportedNode>& nodes);

/// Returns the statistics for the log: "Computation nodes: 2" and so on.
std::vector<std::string> statistics(const Bundle& bundle);

}  // namespace leapp::compile
