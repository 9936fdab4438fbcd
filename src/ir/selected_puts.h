// Writing what a mask selects.
#pragma once

#include "ir/masks.h"
#include "ir/selection.h"

namespace leapp::ir {

/// Replaces a write to the elements that a mask selects by where(), or, if it writes the same to
/// all of the positions that nonzero() found, by the write to the mask. False where the op is
/// something else, or has no such form; then nothing was added.
bool replace_put(Selections& selections, const Op& op, Spread spread);

}  // namespace leapp::ir
