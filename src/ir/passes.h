// Simplifications of a pure graph that do not change its results. Run verify() after them.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace leapp::ir {

/// Removes identities: clone, detach, alias, and casts, copies and reshapes that change nothing.
LEAPP_EXPORT void remove_identities(Graph& graph);

/// Returns the values that the roots depend on, by id: the roots, and the operands of the
/// operations that compute them. Absent roots do not count.
LEAPP_EXPORT std::vector<bool> needed_for(const Graph& graph, const std::vector<ValueId>& roots);

/// Removes dead code: operations that no output depends on.
LEAPP_EXPORT void remove_dead_code(Graph& graph);

/// Eliminates common subexpressions: operations with equal names and arguments become one. Random
/// operations are not merged.
LEAPP_EXPORT void merge_duplicates(Graph& graph);

/// Constants with equal type and bytes become one.
LEAPP_EXPORT void merge_constants(Graph& graph);

/// Assigns operators to the module of their weights: an operator that reads "encoder.0.weight"
/// belongs to "encoder.0".
LEAPP_EXPORT void name_modules(Graph& graph);

}  // namespace leapp::ir
