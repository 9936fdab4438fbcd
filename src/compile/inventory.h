// Collects the constants that a node exports, from the calls that compute it.
//
// It reads the same calls that are exported, so no constant of a model is missing. For a constant
// that the pass computes from others, such as `self.offset * 2`, it lists those others.
#pragma once

#include <string>
#include <vector>

#include "leapp/tools/inventory.h"
#include "session/front_end_interface.h"
#include "state/names.h"
#include "state/state.h"

namespace leapp::compile {

/// The objects of the program that hold tensors, sorted by address.
class Holders {
 public:
  explicit Holders(std::vector<session::HeldTensor> held);

  /// Returns the holder of exactly the tensor's elements, or else of memory that contains them.
  /// Null if there is none. Parameters and buffers take precedence over other holders.
  const session::HeldTensor* find(const void* address) const;

 private:
  std::vector<session::HeldTensor> held_;
};

/// Collects the constants of a node. `paths` names a tensor that no longer has a holder. `judge`
/// decides which numbers are listed; if it is null, none are.
NodeInventory collect_constants(const state::NodeStates& states, const Holders& holders,
                                const state::Paths& paths, session::FrontEnd* judge);

/// Returns the text that the console shows for a node: constants that are neither parameters,
/// buffers nor acknowledged, at most `most` lines. Empty if there is nothing to show.
std::string to_block(const NodeInventory& inventory, std::size_t most);

/// Returns the acknowledged names that match none of the node's constants.
std::vector<std::string> unused_acknowledgements(const session::Node& node,
                                                 const NodeInventory& inventory);

}  // namespace leapp::compile
