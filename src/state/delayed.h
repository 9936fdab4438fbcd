// Inputs whose source computed their value two ticks ago or more: for example last_last_action, or
// a history of actions as declared inputs.
//
// A wire passes a value in the same tick or in the next. The reading node keeps an older value:
// each link is a state that receives the value of the previous tick and outputs it unchanged for
// the next, and the input receives the output of the last link.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "state/state.h"

namespace leapp::state {

/// Returns whether an input receives a constant of its source, which has the same value at any
/// time.
bool is_from_constant(const NodePort& input, const Node& from);

/// Returns the number of ticks since the source computed the value that an input receives; 0 and 1
/// are wires.
int delay_of(const Node& to, const NodePort& input, const Node& from);

/// Adds the links that the inputs named `used` need, after the node's states, and the inputs that
/// receive them. Inputs with the same source share links if their initial values are equal. Adds
/// messages to `findings`. Throws Error if a delay is longer than the number of stored passes.
void add_delays(NodeStates& states, const std::vector<std::string>& used,
                std::span<const Node* const> nodes, Findings& findings);

/// Throws Error if an input needs a link: for user models, to which LEAPP cannot add state.
void refuse_delays(const Node& node, std::span<const Node* const> nodes);

}  // namespace leapp::state
