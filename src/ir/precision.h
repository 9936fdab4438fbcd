// The numerical precision that the outputs of a graph can have.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace leapp::ir {

/// For each output the least precise of the floating-point types that it was computed in: float16
/// for `net(x).float()` with a network in half precision; its own type where none is coarser than
/// float32. Moving elements, as reshape() does, does not count as computing.
LEAPP_EXPORT std::vector<DType> output_precisions(const Graph& graph);

}  // namespace leapp::ir
