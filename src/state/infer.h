// Infers states from recorded passes.
//
//   written         memory that a pass writes, declared or external          find_written()
//   external_reads  tensors that later passes read in place of constants     follow()
//   carried         those of them that are state, and their sources          find_carried()
//   first_tick      nodes whose first pass ran other operators               find_first_tick()
//   shared          memory that several nodes use                            find_shared()
//   delayed         inputs that are older than a wire can carry              add_delays()
//
// All functions map values to values. They never change the recording, so calling them again gives
// the same result.
#pragma once

#include <span>
#include <vector>

#include "state/names.h"
#include "state/state.h"

namespace leapp::state {

struct Inference {
  std::vector<NodeStates> nodes;  ///< in the order given
  Findings findings;
};

/// Returns the states of the exported nodes, which are in order of completion. `all` also contains
/// nodes that are not exported. Undeclared states are named after their path. Throws Error if an
/// output depends on neither an input nor a state.
Inference infer_states(std::span<const Node* const> exported, std::span<const Node* const> all,
                       const Paths& paths);

}  // namespace leapp::state
