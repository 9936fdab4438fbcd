// Operators that work element by element, or row by row.
#pragma once

#include <functional>

#include "ir/graph.h"

namespace leapp::ir {

/// Works element by element, whatever the elements are; `floats`: its result is floating point.
bool is_pointwise(const std::string& name, bool floats);

/// Whether row i of each result, along dimension 0, is made of rows i of its inputs for which
/// `selected` holds, and of all of its other inputs, and would be so for any number of rows. False
/// where that is not known.
bool works_by_rows(const Graph& graph, const Op& op, const std::function<bool(ValueId)>& selected);

}  // namespace leapp::ir
