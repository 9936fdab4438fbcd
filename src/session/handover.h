// Whether the wires of the pipeline hand over what was handed over while tracing.
//
// Validation shows that each model turns what its node took in into what it put out. This shows
// that what a node took in is what the wires bring it: the output or the state of that very pass,
// or of the one before. Both together mean that the pipeline as a whole repeats the traced passes.
#pragma once

#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "session/wires.h"

namespace leapp::session {

/// The first input, by pass, whose traced value differs from what its wire carries, as a warning;
/// empty when there is none. A feedback input that holds its initial value again, as at the start
/// of an episode, is no difference; nor is a wire between nodes that ran at different rates, which
/// describe_rates() names.
std::string describe_difference(const std::vector<CompiledNode>& nodes, const Pipeline& pipeline);

}  // namespace leapp::session
