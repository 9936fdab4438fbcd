// From the sources that inputs were seen to have to the pipeline section of the bundle.
#pragma once

#include <string>
#include <vector>

#include "rehearse/exported_node.h"

namespace leapp::compile {

using rehearse::ExportedNode;

/// Wires, graph inputs and graph outputs. `nodes` are in order of completion.
Pipeline connect(const std::vector<ExportedNode>& nodes);

/// "Computation nodes: 2" and so on, for the log.
std::vector<std::string> statistics(const Bundle& bundle);

}  // namespace leapp::compile
