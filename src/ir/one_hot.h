// Masks that are true once for each row, whatever the values are: their selections are static.
#pragma once

#include "ir/selection.h"

namespace leapp::ir {

/// Replaces `x[one_hot(index) > 0.5]`, or the like, by x at the index, in each row. False where the
/// op is something else; then nothing was added.
bool replace_one_hot(Selections& selections, const Op& op);

}  // namespace leapp::ir
