// Collects what a node exports as a constant, from the calls that compute it.
//
// The calls that are collected from are the calls that are exported, so nothing that ends up as a
// constant of a model is missing here. A constant that the pass computes from others, such as
// `self.offset * 2`, is listed by what it is computed from.
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

  /// Returns the holder of the tensor's elements: of exactly these, or else of memory that they
  /// are in. Null if there is none. Parameters and buffers win over other holders.
  const session::HeldTensor* find(const void* address) const;

 private:
  std::vector<session::HeldTensor> held_;
};

/// Collects the constants of a node. `paths` names a tensor that no holder has any more. `judge`
/// decides which numbers are listed: none if it is null.
NodeInventory collect_constants(const state::NodeStates& states, const Holders& holders,
                                const state::Paths& paths, session::FrontEnd* judge);

/// Returns the block that the console shows for a node: what is neither parameter nor buffer and
/// not acknowledged, at most `most` lines of it. Empty if there is nothing to show.
std::string to_block(const NodeInventory& inventory, std::size_t most);

/// Returns the acknowledged names that cover none of the node's constants.
std::vector<std::string> unused_acknowledgements(const session::Node& node,
                                                 const NodeInventory& inventory);

}  // namespace leapp::compile
