// Nodes that did not run once in every tick while they were traced, though a bundle runs them so.
//
// A planner in every second tick, a controller four times in each, one encoder for two cameras: the
// models are right, but what they receive from each other in the bundle is not what they received
// in the program. It shows in the age of what an input receives, which then varies.
#pragma once

#include <span>

#include "state/state.h"

namespace leapp::state {

/// Returns one warning, with the user's line, for each pair of nodes of which one received values
/// of varying age, and for each node that gave two values to one tick of its reader.
Findings find_rates(std::span<const Node* const> nodes);

/// Returns "node 'hi' ran twice and node 'lo' 4 times while tracing".
std::string counts_of(const Node& to, const Node& from);

}  // namespace leapp::state
