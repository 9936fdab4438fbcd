// Values that the export takes for constant: numbers and choices that the program read, values of
// other nodes that a node was not given, random draws.
#pragma once

#include "state/external_reads.h"

namespace leapp::state {

/// Numbers and choices that no input decides, but memory that the node or the program around it
/// writes to, or what the node computed in the pass before. `followed` is that of the first pass.
Findings find_escapes(const Node& node, const Followed& followed);

/// Values of other nodes and random draws that end up as constants of the exported pass.
/// `nodes` are all of them, for their names.
Findings find_baked(const NodeStates& states, std::span<const Node* const> nodes);

/// Returns memory that every pass of a node read as a constant, although the program has written to
/// it since, or although it is a copy of an input, such as a pose that is measured once; or that
/// its only pass read, although an input of another node received it.
Findings find_undeclared(const NodeStates& states, std::span<const Node* const> nodes,
                         const Paths& paths);

}  // namespace leapp::state
