// Names for one tensor, compared between two passes: `b = a` affects later results if one of them
// is written to in place.
#pragma once

#include <vector>

#include "trace/alignment.h"
#include "trace/recording.h"

namespace leapp::trace {

/// Returns the sites of the first pass that read external memory with different aliases than their
/// counterparts: one piece of memory corresponds to two, or two to one, and a pass writes to it.
std::vector<Site> find_mismatched_aliases(const Recording& first, const Recording& again,
                                          const Alignment& aligned);

}  // namespace leapp::trace
