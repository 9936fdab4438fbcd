// Bools of the program that say in which ticks a node runs.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "leapp/bundle.h"
#include "session/record/node_run.h"
#include "state/schedule_fit.h"
#include "state/state.h"

namespace leapp::state {

/// Returns the value that decides about a run of `node` in each of the first `ticks` ticks, if the
/// port can be a condition: an output of an earlier node, whose latest value counts, or an input of
/// a node that runs in every tick. Empty if a value is not known.
std::optional<std::vector<bool>> values_of_condition(const PortRef& port, const Node& node,
                                                     std::span<const Node* const> nodes,
                                                     const session::RunLog& runs,
                                                     const ScheduleFit& fit, int ticks);

/// Returns the ports that were true exactly in the ticks in which the node ran, of those ticks for
/// which that is known.
std::vector<PortRef> find_conditions(const Node& node, std::span<const Node* const> nodes,
                                     const session::RunLog& runs, const ScheduleFit& fit);

}  // namespace leapp::state
