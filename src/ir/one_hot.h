// Masks that are always true exactly once per row, so their selections are static.
#pragma once

#include "ir/selection.h"

namespace leapp::ir {

/// Replaces `x[one_hot(index) > 0.5]` and similar selections by x at the index, in each row.
/// Returns false for any other op, and then adds nothing.
bool replace_one_hot(Selections& selections, const Op& op);

}  // namespace leapp::ir
