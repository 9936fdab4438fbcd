// Pointwise and row-wise operators: the elements of a result that depend on each element of an
// input.
#pragma once

#include <functional>

#include "ir/graph.h"

namespace leapp::ir {

/// Returns whether the operator works element by element for all values. `floats`: its result is
/// floating point.
bool is_pointwise(const std::string& name, bool floats);

/// Returns whether row i of each result (dimension 0) depends only on rows i of the `selected`
/// inputs and on all other inputs, for any number of rows.
/// Returns false if that is unknown.
bool is_rowwise(const Graph& graph, const Op& op, const std::function<bool(ValueId)>& selected);

}  // namespace leapp::ir
