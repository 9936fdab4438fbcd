// One pass of a node, as the schedule is inferred from it: when it ran, and what it received.
//
// Unlike Pass, there is one for every pass, and it holds no tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "session/record/age.h"
#include "session/record/port_id.h"

namespace leapp::session {

struct NodeRun {
  struct Input {
    std::optional<PortId> source = {};        ///< the output whose value it received, unchanged
    Age::Read read = {};                      ///< of that output
    std::optional<std::int64_t> number = {};  ///< value of an integer or bool with one element
    /// False if its value is known to differ from that of the node's previous pass. It is known if
    /// both passes are recorded and no other node ran between them.
    bool is_unchanged = true;
  };

  NodeId node = kNoId;
  int pass = 0;                                           ///< pass of the node, from 0
  bool played = false;                                    ///< it is a PlayedPass
  std::vector<Input> inputs = {};                         ///< by Node::inputs
  std::vector<std::optional<std::int64_t>> numbers = {};  ///< by Node::outputs, likewise
};

/// The passes of all nodes, in the order in which they were completed.
using RunLog = std::vector<NodeRun>;

}  // namespace leapp::session
