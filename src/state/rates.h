// Nodes that did not all run once per tick while tracing.
//
// Examples are a planner in every second tick, a controller four times per tick, or one encoder for
// two cameras. In a bundle without a schedule, they would receive other values from each other than
// in the program. The age of an input's value then varies.
#pragma once

#include <span>

#include "session/record/node_run.h"
#include "state/state.h"

namespace leapp::state {

/// Returns one error, with the user's line, for each pair of nodes in which one received values
/// with a varying age, and for each node that produced two values for one tick of its reader.
Findings find_rates(std::span<const Node* const> nodes);

/// Returns whether two nodes took turns other than one by one, while both ran. Nodes that output
/// only constants do not count.
bool run_at_other_rates(std::span<const Node* const> all, const session::RunLog& runs);

/// Returns "node 'hi' ran twice and node 'lo' 4 times while tracing".
std::string counts_of(const Node& to, const Node& from);

}  // namespace leapp::state
