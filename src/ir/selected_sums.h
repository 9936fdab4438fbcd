// Sums, means and extremes over what a mask selects.
#pragma once

#include "ir/masks.h"
#include "ir/selection.h"

namespace leapp::ir {

/// Says a reduction over what was selected as one over all elements, with neutral ones in place of
/// the others. False where the op is something else, or cannot be said so; then nothing was added.
bool replace_reduction(Selections& selections, const Op& op, Spread spread);

}  // namespace leapp::ir
