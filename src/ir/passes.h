// Clean-ups of a pure graph. Each keeps what the graph computes; run verify() after them.
#pragma once

#include "ir/graph.h"

namespace leapp::ir {

/// Removes operations that only hand on their input: clone, detach, alias, and casts, copies and
/// reshapes to what the value already is.
LEAPP_EXPORT void remove_identities(Graph& graph);

/// Removes operations that no output depends on.
LEAPP_EXPORT void remove_dead_code(Graph& graph);

/// Lets operations with equal names and arguments be one.
LEAPP_EXPORT void merge_duplicates(Graph& graph);

/// Lets constants with equal type and bytes be one.
LEAPP_EXPORT void merge_constants(Graph& graph);

/// Says which module an operator belongs to where its weights tell: one that reads
/// "encoder.0.weight" is of "encoder.0".
LEAPP_EXPORT void name_modules(Graph& graph);

}  // namespace leapp::ir
