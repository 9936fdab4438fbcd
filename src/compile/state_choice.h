// Which states the model needs, by data flow.
#pragma once

#include <vector>

#include "state/state.h"
#include "trace/purify.h"

namespace leapp::compile {

/// For each state of a node: whether the model needs its old value, and whether it outputs the new
/// one.
struct StateChoice {
  std::vector<bool> in;
  std::vector<bool> out;

  bool operator==(const StateChoice&) const = default;
};

/// Returns a state is needed when what it held before the pass can reach an output or another
/// state's update. A declared one may also reach only itself (a counter); one that was merely found
/// by its writes must matter to the node's outputs, or every scratch buffer of the program would
/// count. `wanted` says whose value after the pass another node reads.
StateChoice choose_states(const std::vector<state::State>& states, const trace::Purified& purified,
                          const std::vector<bool>& wanted);

/// Gives the graph its inputs, ports that reach an output and then chosen states, and its outputs,
/// ports that are not constants and then chosen states.
void close_graph(const state::NodeStates& states, const StateChoice& choice,
                 trace::Purified& purified);

}  // namespace leapp::compile
