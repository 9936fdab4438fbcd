// State that the program keeps without annotations, found by following values from pass to pass.
//
// If every pass agrees on the source of a tensor, it is state: its first value was read as a
// constant, and each tick reads the value that the source had at the end of the previous tick. A
// source several passes back becomes a chain of states, each of which passes its value to the one
// before.
#pragma once

#include "state/external_reads.h"

namespace leapp::state {

struct Carried {
  /// Written state, changed if the program replaces its memory, and carried state.
  NodeStates kept = {};
  Followed followed = {};
  Findings findings = {};
  bool in_doubt = false;   ///< a finding explains why only written states were found
  std::size_t passes = 0;  ///< number of passes that would decide it; 0: unknown
};

/// Returns the carried state that the passes of the subject show, from its base on. A state may be
/// another node's output of the previous tick.
Carried find_carried(const Subject& subject);

}  // namespace leapp::state
