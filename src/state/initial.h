// Feedback whose initial value was an external input: a target that starts at the measured pose.
//
// A bundle starts feedback in every episode with the value that its input had in the first pass. If
// that was the tensor of another input, the program starts with that input's current value, which a
// constant cannot express.
#pragma once

#include <span>

#include "state/state.h"

namespace leapp::state {

/// Returns one warning, with the user's line, for each input that receives an output of the
/// previous tick and started with the tensor of an external input.
Findings find_initial(std::span<const Node* const> nodes);

/// Returns "pi/q", an external input that used the memory in the first pass; "" if there was none.
std::string find_sensor(std::span<const Node* const> nodes, const void* place);

}  // namespace leapp::state
