// Sums, means and extremes over elements that a mask selects.
#pragma once

#include "ir/masks.h"
#include "ir/selection.h"

namespace leapp::ir {

/// Replaces a reduction over selected elements by one over all elements, with neutral values for
/// the others. Returns false for any other op, and then adds nothing.
bool replace_reduction(Selections& selections, const Op& op, Spread spread);

}  // namespace leapp::ir
