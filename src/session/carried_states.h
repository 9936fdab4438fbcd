// What a node's passes carried from one to the next, as candidates for state.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "session/node.h"

namespace leapp::session {

/// A carried state whose value is an output of another node, which completes after this one.
struct CarriedFeed {
  const Node* to = nullptr;
  std::size_t to_state = 0;  ///< index into its recording's states
  const Node* from = nullptr;
  std::string port;
};

/// Gives the nodes' recordings the states that their passes show. `warnings` receives a sentence
/// for each tensor that changes from pass to pass without telling from where.
std::vector<CarriedFeed> add_carried_states(const std::vector<Node*>& nodes,
                                            std::vector<std::string>& warnings);

}  // namespace leapp::session
