// Values that the export treats as constants: numbers and branch conditions that the program read,
// undeclared values of other nodes, random draws.
#pragma once

#include <optional>

#include "state/external_reads.h"

namespace leapp::state {

/// Returns numbers and branch conditions that depend on no input, but on memory that the node or
/// the program around it writes to, or on results of the previous pass. `followed` is that of the
/// first pass.
Findings find_escapes(const Node& node, const Followed& followed);

/// Returns values of other nodes and random draws that become constants of the exported pass, and
/// arrays that other code may have computed, as errors. `nodes` contains all nodes, for their
/// names.
Findings find_baked(const NodeStates& states, std::span<const Node* const> nodes,
                    const Paths& paths);

/// Returns memory that every pass of a node read as a constant, although the program has written to
/// it since, or although it is a copy of an input, such as a pose that is measured once. Also
/// returns memory that its only pass read, although an input of another node received it.
Findings find_undeclared(const NodeStates& states, std::span<const Node* const> nodes,
                         const Paths& paths);

/// Returns the refusal of the first value in any pass that code may have computed which was not
/// recorded.
std::optional<Diagnostic> find_foreign(const Node& node, const Paths& paths);

}  // namespace leapp::state
