// State that the program keeps by itself, out of what was followed from pass to pass.
//
// Where every pass agrees on where a tensor comes from, it is state: its first value was read as a
// constant, and what its source is at the end of a tick is read in the next. A source that lies
// several passes back is a chain of states, each of which hands its value to the one before.
#pragma once

#include "state/external_reads.h"

namespace leapp::state {

struct Carried {
  /// Written state, changed if the program replaces its memory, and carried state.
  NodeStates kept = {};
  Followed followed = {};
  Findings findings = {};
  bool in_doubt = false;   ///< a finding says why the states are only those that were written
  std::size_t passes = 0;  ///< number of passes that would decide it; 0: unknown
};

/// Returns the carried state that the passes of the subject show, from its base on. A state may be
/// another node's output of the previous tick.
Carried find_carried(const Subject& subject);

}  // namespace leapp::state
