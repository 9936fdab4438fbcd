// Whether the wires of the pipeline hand over what was handed over while tracing.
//
// Validation shows that each model turns what its node took in into what it put out. This shows
// that what a node took in is what the wires bring it: the output or the state of that very pass,
// or of the one before. Both together mean that the pipeline as a whole repeats the traced passes.
#pragma once

#include <optional>
#include <vector>

#include "compile/compiled_node.h"

namespace leapp::compile {

/// The first input, by pass, whose traced value differs from what its wire carries, as a warning. A
/// feedback input that holds its initial value again, as at the start of an episode, is no
/// difference; nor is a wire between nodes that ran at different rates, which find_rates() names.
std::optional<Diagnostic> find_difference(const std::vector<CompiledNode>& nodes,
                                          const Pipeline& pipeline);

}  // namespace leapp::compile
