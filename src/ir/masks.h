// Selections by a computed mask, put in terms of shapes that do not depend on it.
#pragma once

#include "ir/graph.h"

namespace leapp::ir {

/// How far to go in computing with what was not selected as well.
enum class Spread {
  kElements,  ///< what works element by element: as cheap as the selection itself
  kRows,      ///< layers that work row by row too: needed where all shapes have to be fixed
};

/// `y[m] = f(y[m])` selects as many elements as the mask has, computes with them and puts them
/// back. As long as what is done to them works element by element (or row by row) it may be done to
/// all of them, and the mask chooses in the end: `where(m, f(y), y)`. Sums, means and extremes of
/// what was selected are rewritten likewise. With kRows, the places that nonzero() finds count as
/// selections too, and an operator that works with as many as were selected now is given that many,
/// by an operation that fails where there are others. A mask that is true once in each row, such as
/// `one_hot(i) > 0.5`, is a selection of fixed size: what it selects is picked by its index.
/// Selections that are used in another way stay as they are.
LEAPP_EXPORT void spread_selections(Graph& graph, Spread spread = Spread::kElements);

}  // namespace leapp::ir
