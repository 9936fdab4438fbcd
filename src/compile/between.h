// Computation between nodes, exported with the node before it.
//
// Operators between two nodes belong to no node, but are part of the pipeline. They are exported at
// the end of the last node that they read, which gets one more output. The input that receives the
// result keeps its name, its shape and, as feedback, its initial value.
//
// Only operators that are the same in every pass and read outputs of one tick and constants are
// exported. Everything else may be a simulator: the input then stays an input of the pipeline, with
// a warning.
#pragma once

#include <map>
#include <span>

#include "state/state.h"

namespace leapp::compile {

using session::Node;
using session::NodeId;

/// Returns the changed nodes, as if they had been recorded that way; does not change the recorded
/// ones. Adds messages to `findings`.
std::map<NodeId, Node> take_between(std::span<const Node* const> recorded,
                                    state::Findings& findings);

}  // namespace leapp::compile
