// The numerical precision that the outputs of a graph can have.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace leapp::ir {

/// Returns for each output the least precise floating-point type in which it was computed: float16
/// for `net(x).float()` with a network in half precision; its own type if none is coarser than
/// float32. Operators that only move elements, such as reshape(), do not count.
LEAPP_EXPORT std::vector<DType> output_precisions(const Graph& graph);

}  // namespace leapp::ir
