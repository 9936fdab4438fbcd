// A first tick that differs from later ones: a filter that starts with the first observation, a
// history that is filled with it.
//
// The first pass runs other operators than the later passes, which agree with each other. Then the
// second pass is exported, and a flag, which is state as well, selects the operators of the first;
// see ir/first_tick.h.
#pragma once

#include <optional>
#include <vector>

#include "state/comparison.h"

namespace leapp::state {

/// Returns the state that the later passes show if the first one differs, in doubt if more passes
/// are needed; nullopt if it does not differ, or uses memory of another node. `differences` are
/// those from the first pass.
std::optional<Carried> find_first_tick(const Subject& subject,
                                       const std::vector<Difference>& differences);

}  // namespace leapp::state
