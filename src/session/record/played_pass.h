// The record of a pass that computes nothing from its inputs: its outputs are results of an earlier
// pass, as of a policy that computes a chunk of actions and outputs one of them in each tick.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <map>
#include <vector>

#include "trace/recording.h"

namespace leapp::session {

/// Suffix of the name of the node that outputs the elements of a chunk.
inline constexpr const char* kPlaybackSuffix = "_playback";

struct PlayedPass {
  int number = 0;          ///< number among all passes of its node, from 0
  std::size_t source = 0;  ///< index among Node::passes of the pass that computed the results
  trace::Recording recording = {};  ///< its outputs, and the calls that select them
  /// Variables of its tape that are results of the source, with their variables there.
  std::map<trace::VarId, trace::VarId> taken = {};
  std::vector<at::Tensor> outputs = {};  ///< copies
};

}  // namespace leapp::session
