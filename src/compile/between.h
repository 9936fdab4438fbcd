// Computing between nodes, taken into the node that it follows.
//
// What a program does with an output on its way to the next node is in no node, and still part of
// the pipeline. It is exported as if it stood at the end of the last node that it takes something
// from, and were put out there: the input that receives it keeps its name, its shape and, as
// feedback, the value that it begins with.
//
// Only computing that is the same in every pass is taken in, on outputs of one tick and on
// constants. Everything else may stand for the world around the nodes, a simulator say: there the
// input stays one of the pipeline's, and is warned about.
#pragma once

#include <map>
#include <span>

#include "state/state.h"

namespace leapp::compile {

using session::Node;
using session::NodeId;

/// The nodes that change by it, as if they had been recorded so; the recorded ones stay as they
/// are. What there is to say is added to `findings`.
std::map<NodeId, Node> take_between(std::span<const Node* const> recorded,
                                    state::Findings& findings);

}  // namespace leapp::compile
