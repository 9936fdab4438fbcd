// A first tick of its own kind: a filter that begins with the first observation, a history that is
// filled with it.
//
// The first pass runs other operators than those after it, which agree with each other. Then the
// second pass is exported, and what the first did is chosen by a flag, which is state as well; see
// ir/first_tick.h.
#pragma once

#include <optional>
#include <vector>

#include "state/comparison.h"

namespace leapp::state {

/// What the passes after the first show where that is of its own kind, in doubt where it takes more
/// passes to show; nullopt where it is not, or uses memory that another node uses. `differences`
/// are those from the first pass.
std::optional<Carried> find_first_tick(const Subject& subject,
                                       const std::vector<Difference>& differences);

}  // namespace leapp::state
