// From recorded passes to states: the one question that this folder answers.
//
//   written    what a pass writes: declared, or memory from outside        find_written()
//   trails     what later passes read in the place of constants            follow()
//   carried    what of that is state, and where its value comes from       find_carried()
//   first_tick where the first pass is of its own kind                     find_first_tick()
//   shared     memory that travels between nodes                           find_shared()
//   delayed    inputs that are older than a wire can carry                 add_delays()
//
// Everything here is a function of values to values: nothing changes the recording, so a second
// question gets the same answer.
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

/// The states of the nodes that are exported, given in order of completion. `all` are also those
/// that are not. States that were found are named after their path. Throws Error where an output
/// depends on neither an input nor a state.
Inference infer_states(std::span<const Node* const> exported, std::span<const Node* const> all,
                       const Paths& paths);

}  // namespace leapp::state
