// Memory that several nodes use: one writes it, another reads it, and nobody annotated it.
//
// In the program the value simply is in memory when the reader runs. In the bundle it has to
// travel: the writer puts it out, and the reader takes it in. Who wrote what a pass found is known
// from the passes themselves; with a single pass, memory that is written in place tells as much.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "session/node.h"

namespace leapp::session {

/// The value of one node's candidate for state comes from another node's.
struct SharedState {
  const Node* to = nullptr;
  std::size_t to_state = 0;  ///< index into its recording's states
  const Node* from = nullptr;
  std::size_t from_state = 0;
};

/// Finds what the nodes share, in order of completion, and gives their recordings the candidates
/// they lack. `warnings` receives a sentence for each value that cannot travel.
std::vector<SharedState> find_shared_states(const std::vector<Node*>& nodes,
                                            std::vector<std::string>& warnings);

}  // namespace leapp::session
