// Selections by a computed mask, put in terms of shapes that do not depend on it.
#pragma once

#include "ir/graph.h"

namespace leapp::ir {

/// `y[m] = f(y[m])` selects as many elements as the mask has, computes with them and puts them
/// back. As long as what is done to them works element by element it may be done to all of them,
/// and the mask chooses in the end: `where(m, f(y), y)`. Sums, means and extremes of what was
/// selected are rewritten likewise. Selections that are used in another way stay as they are.
LEAPP_EXPORT void spread_selections(Graph& graph);

}  // namespace leapp::ir
