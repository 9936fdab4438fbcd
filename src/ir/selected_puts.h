// Writes to elements that a mask selects.
#pragma once

#include "ir/masks.h"
#include "ir/selection.h"

namespace leapp::ir {

/// Replaces a write to the elements that a mask selects by where(), or, if it writes the same value
/// at all positions of nonzero(), by a write to the mask. Returns false for any other op, and then
/// adds nothing.
bool replace_put(Selections& selections, const Op& op, Spread spread);

}  // namespace leapp::ir
