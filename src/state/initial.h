// Feedback that began with what the world gave: a target that starts at the measured pose.
//
// A bundle starts feedback with the value that its input had in the first pass, in every episode.
// Where that was the very tensor that another input received, the program starts with whatever
// that one holds then, which no value does.
#pragma once

#include <span>

#include "state/state.h"

namespace leapp::state {

/// Returns one warning, with the user's line, for each input that receives an output of the
/// previous tick and started with the tensor of an external input.
Findings find_initial(std::span<const Node* const> nodes);

/// Returns "pi/q", an external input that had the memory in the first pass; "" if there was none.
std::string find_sensor(std::span<const Node* const> nodes, const void* place);

}  // namespace leapp::state
