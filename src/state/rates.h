// Nodes that did not run once per tick while tracing, although a bundle runs them once.
//
// Examples are a planner in every second tick, a controller four times per tick, or one encoder for
// two cameras. The models are correct, but in the bundle they receive other values from each other
// than in the program. The age of an input's value then varies.
#pragma once

#include <span>

#include "state/state.h"

namespace leapp::state {

/// Returns one warning, with the user's line, for each pair of nodes in which one received values
/// with a varying age, and for each node that produced two values for one tick of its reader.
Findings find_rates(std::span<const Node* const> nodes);

/// Returns "node 'hi' ran twice and node 'lo' 4 times while tracing".
std::string counts_of(const Node& to, const Node& from);

}  // namespace leapp::state
