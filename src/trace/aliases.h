// Names for one tensor, compared between two passes: `b = a` makes a difference to what follows
// where one of them is written to in place.
#pragma once

#include <vector>

#include "trace/alignment.h"
#include "trace/recording.h"

namespace leapp::trace {

/// Returns the sites of the first pass that read memory from outside in another company than their
/// counterparts do: one piece of memory here is two there, or two are one, and a pass writes to it.
std::vector<Site> find_mismatched_aliases(const Recording& first, const Recording& again,
                                          const Alignment& aligned);

}  // namespace leapp::trace
