// Masks that are true once for each row, whatever the values are.
#pragma once

#include "ir/selection.h"

namespace leapp::ir {

/// `x[one_hot(index) > 0.5]`, or the like, is x at the index, in each row: says the op so. False
/// where it is something else; then nothing was added.
bool pick_one_each(Selections& selections, const Op& op);

}  // namespace leapp::ir
