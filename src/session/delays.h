// Inputs whose source put their value out two ticks ago or more: last_last_action, a history of
// actions as declared inputs.
//
// A wire hands a value over in the same tick or in the next. For one that is older, the node that
// reads it keeps it: each link is a state that takes in the value of the tick before and puts it
// out unchanged for the next, and the input receives what the last link puts out.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "session/wires.h"

namespace leapp::session {

struct Delays {
  std::vector<CompiledNode::StateWire> wires;
  std::vector<std::string> lines;  ///< what was done, for the log
};

/// Gives the node's graph the links that its inputs need, and its samples their values. Inputs of
/// one source share links as far as they begin with the same values. Throws Error(kUsage) where a
/// delay is longer than the first passes whose values were kept.
Delays add_delays(Node& node, const std::deque<Node>& nodes, ir::Graph& graph);

/// Throws Error(kUsage) when an input needs a link: for models that are taken as they are.
void refuse_delays(const Node& node, const std::deque<Node>& nodes);

}  // namespace leapp::session
