// Undeclared memory that several nodes use: one writes it, another reads it.
//
// In the program the value is in memory when the reader runs. In the bundle it becomes an output of
// the writer and an input of the reader. The passes show which node wrote the value that a pass
// found; with a single pass, this is known for memory that is written in place.
#pragma once

#include <vector>

#include "state/written.h"

namespace leapp::state {

/// Adds the states that nodes share, and the node that feeds each. `nodes` are in order of
/// completion, and `written` contains the memory that their passes write. Adds memory that cannot
/// be shared to `findings`.
std::vector<NodeStates> find_shared(std::vector<NodeStates> nodes,
                                    const std::vector<std::vector<WrittenPass>>& written,
                                    Findings& findings);

}  // namespace leapp::state
