// Selects the states that the model needs, by data flow.
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

/// Returns the states that the model needs. A state is needed if its value before the pass can
/// reach an output or another state's update. A declared state may also reach only itself (a
/// counter). A state that was found by its writes must affect the node's outputs; otherwise every
/// scratch buffer would count. `wanted` marks states whose value after the pass is read by another
/// node.
StateChoice choose_states(const std::vector<state::State>& states, const trace::Purified& purified,
                          const std::vector<bool>& wanted);

/// Adds inputs to the graph, ports that reach an output and then the chosen states, and outputs,
/// ports that are not constants and then the chosen states.
void close_graph(const state::NodeStates& states, const StateChoice& choice,
                 trace::Purified& purified);

}  // namespace leapp::compile
