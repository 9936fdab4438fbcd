// Sums, means and extremes over what a mask selects.
#pragma once

#include "ir/masks.h"
#include "ir/selection.h"

namespace leapp::ir {

/// Replaces a reduction over what was selected by one over all elements, with neutral ones in place
/// of the others. False where the op is something else, or has no such form; then nothing was
/// added.
bool replace_reduction(Selections& selections, const Op& op, Spread spread);

}  // namespace leapp::ir
