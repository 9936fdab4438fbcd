// Nodes that compute in some of their passes, and in the others output results of the last one that
// computed: a policy that computes a chunk of actions and outputs one of them in each tick.
//
// Such a node becomes two. The first one has its name and inputs, computes the chunk, and runs in
// every n-th tick. The second one, "<name>_playback", outputs in every tick the element of the
// chunk whose index is the age of the chunk.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "leapp/bundle.h"
#include "session/record/node.h"
#include "session/record/node_run.h"
#include "session/session.h"
#include "trace/capture.h"

namespace leapp::compile {

using session::Node;

/// A program whose playing nodes were split.
struct Playback {
  std::vector<const Node*> nodes = {};  ///< all of them, in the order of their first completion
  session::RunLog runs = {};
  std::vector<NodeSchedule> schedule = {};  ///< stated entries, with those of the playing nodes
  std::deque<Node> made = {};               ///< owns the nodes, if any was split
};

/// Splits the nodes that have played passes. `captures` must outlive the result. Throws Error if a
/// node cannot be split because its chunks differ in length, or if two schedules are stated for one
/// node.
Playback split_playing_nodes(std::span<const Node* const> nodes, session::Session& session,
                             trace::CaptureTable& captures);

}  // namespace leapp::compile
