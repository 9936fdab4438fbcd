// Rewrites selections by a computed mask with static shapes.
#pragma once

#include "ir/graph.h"

namespace leapp::ir {

/// The operators that may also compute with elements that the mask does not select.
enum class Spread {
  kElements,  ///< pointwise operators: as cheap as the selection itself
  kRows,      ///< also row-wise layers: needed if all shapes must be static
};

/// Removes data-dependent selections. `y[m] = f(y[m])` selects as many elements as the mask has,
/// computes with them and writes them back. If f is pointwise (or row-wise), it may be applied to
/// all elements, and the mask selects at the end: `where(m, f(y), y)`. Sums, means and extremes of
/// selected elements are rewritten in the same way. With kRows, the positions that nonzero() finds
/// count as selections too, and an operator that is specialised to the traced number of elements
/// receives that many, by an operation that fails for any other number. A mask that is true once in
/// each row, such as `one_hot(i) > 0.5`, selects a static shape: by its index. Selections that are
/// used in another way stay as they are.
LEAPP_EXPORT void spread_selections(Graph& graph, Spread spread = Spread::kElements);

}  // namespace leapp::ir
