// Names for one tensor, compared between two passes: `b = a` makes a difference to what follows
// where one of them is written to in place.
#pragma once

#include <vector>

#include "session/record/pass.h"
#include "trace/alignment.h"

namespace leapp::state {

/// The sites of the first pass that read memory from outside in another company than their
/// counterparts do: one piece of memory here is two there, or two are one, and a pass writes to it.
std::vector<trace::Site> find_torn(const session::Pass& first, const session::Pass& again,
                                   const trace::Alignment& aligned);

}  // namespace leapp::state
