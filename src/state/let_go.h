// Tensors from outside that a node read in its only pass, and that the program has let go of since.
//
// Weights live on in their modules. A tensor that is gone after the pass, while the program keeps a
// value of its shape that the pass made, was probably replaced: `self.hidden = new_hidden`, a queue
// of past observations. A second pass would show it; after a single one all that can be done is to
// say so.
#pragma once

#include <span>

#include "state/names.h"
#include "state/state.h"

namespace leapp::state {

/// One warning for each such tensor of a node that was traced once.
Findings find_let_go(std::span<const NodeStates> nodes, const Paths& paths);

}  // namespace leapp::state
