// Feedback that began with what the world gave: a target that starts at the measured pose.
//
// A bundle starts feedback with the value that its input had in the first pass, in every episode.
// Where that was the very tensor that another input received, the program starts with whatever
// that one holds then, which no value does.
#pragma once

#include <span>

#include "state/state.h"

namespace leapp::state {

/// One warning, with the user's line, for each input that receives an output of the tick before and
/// began with the tensor of an input from outside of the graph.
Findings find_initial(std::span<const Node* const> nodes);

/// "pi/q", an input from outside of the graph that in the first pass began there, or was in memory
/// that is there; "" where none was.
std::string find_sensor(std::span<const Node* const> nodes, const void* place);

}  // namespace leapp::state
