// Operators that are pointwise or row-wise: which elements of a result depend on which.
#pragma once

#include <functional>

#include "ir/graph.h"

namespace leapp::ir {

/// Whether the operator works element by element, whatever the elements are. `floats`: its result
/// is floating point.
bool is_pointwise(const std::string& name, bool floats);

/// Whether row i of each result, along dimension 0, is computed from rows i of its inputs for which
/// `selected` holds, and from all of its other inputs, and would be so for any number of rows.
/// False where that is not known.
bool is_rowwise(const Graph& graph, const Op& op, const std::function<bool(ValueId)>& selected);

}  // namespace leapp::ir
