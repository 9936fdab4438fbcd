// A first tick that differs from later ones: a filter that starts with the first observation, a
// history that is filled with it.
//
// If the first pass runs other operators than the later passes, and these agree, the second pass is
// exported, and a flag, which is also state, selects the operators of the first; see
// ir/first_tick.h.
#pragma once

#include <optional>
#include <vector>

#include "state/comparison.h"

namespace leapp::state {

/// Returns the state of the later passes if the first one differs, marked as uncertain if more
/// passes are needed; nullopt if it does not differ, or uses memory of another node. `differences`
/// are those from the first pass.
std::optional<Carried> find_first_tick(const Subject& subject,
                                       const std::vector<Difference>& differences);

}  // namespace leapp::state
