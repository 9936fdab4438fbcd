// Writing what a mask selects.
#pragma once

#include "ir/masks.h"
#include "ir/selection.h"

namespace leapp::ir {

/// Says a write to the elements that a mask selects by where(), or, if it writes the same to all of
/// the places that were found, by the mask. False where the op is something else, or cannot be
/// said so; then nothing was added.
bool replace_put(Selections& selections, const Op& op, Spread spread);

}  // namespace leapp::ir
