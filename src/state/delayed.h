// Inputs whose source computed their value two ticks ago or more: last_last_action, a history of
// actions as declared inputs.
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

/// Returns whether an input receives a constant of its source, which is the same at any time.
bool is_from_constant(const NodePort& input, const Node& from);

/// Returns how many ticks ago the source computed the value that an input receives: 0 and 1 are
/// wires.
int delay_of(const Node& to, const NodePort& input, const Node& from);

/// Gives the node the links that the inputs called `used` need, behind its states, and says which
/// inputs receive them. Inputs of one source share links as far as they begin with the same values.
/// What was done is added to `findings`. Throws Error where a delay is longer than the passes whose
/// values were kept.
void add_delays(NodeStates& states, const std::vector<std::string>& used,
                std::span<const Node* const> nodes, Findings& findings);

/// Throws Error when an input needs a link: for models that are taken as they are.
void refuse_delays(const Node& node, std::span<const Node* const> nodes);

}  // namespace leapp::state
