// Joins two graphs of one node: the one of its first tick and the one of all later ticks.
//
// For example, a filter may start with the first observation, or a history may be filled with it,
// so the program runs other operators in its first tick. A flag, which is state and true in the
// first tick, selects the operators.
#pragma once

#include <utility>
#include <vector>

#include "ir/graph.h"

namespace leapp::ir {

/// A value of the graph of the first tick, and the corresponding value of the other graph.
using TickPair = std::pair<ValueId, ValueId>;

/// Changes `rest` so that it computes the same as `first` if `flag`, a 0-d input of it, is true.
/// Both have the same inputs in the same order; the values of a pair have the same type. Returns
/// the resulting value of each pair, in `rest`. An operator that both run on different values runs
/// once, on the selected value, so a network after a filter is not computed twice.
/// remove_dead_code() removes unused operators.
LEAPP_EXPORT std::vector<ValueId> choose_by_tick(Graph& rest, const Graph& first, ValueId flag,
                                                 const std::vector<TickPair>& pairs);

}  // namespace leapp::ir
