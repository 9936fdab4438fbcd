// Two graphs of one node as one: what its first tick computes, and what every later tick does.
//
// A filter that begins with the first observation, a history that is filled with it: the program
// runs other operators in its first tick. A flag that is true then, and state like any other,
// chooses between the two.
#pragma once

#include <utility>
#include <vector>

#include "ir/graph.h"

namespace leapp::ir {

/// A value of the graph of the first tick, and the corresponding value of the other graph.
using TickPair = std::pair<ValueId, ValueId>;

/// Makes `rest` compute what `first` does where `flag`, an input of it without dimensions, is true.
/// Both have the same inputs in the same order; the values of a pair have the same type. Returns
/// what each pair has become, in `rest`. An operator that both run, on different values, runs once,
/// on the one that counts: a network behind a filter is not computed twice. What is no longer
/// needed is left to remove_dead_code().
LEAPP_EXPORT std::vector<ValueId> choose_by_tick(Graph& rest, const Graph& first, ValueId flag,
                                                 const std::vector<TickPair>& pairs);

}  // namespace leapp::ir
