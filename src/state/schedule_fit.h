// One reading of a traced program as ticks: when each node ran, if some nodes run several times per
// tick and all others at most once.
//
// The node that runs most often defines the tick. A reading fits if the wires of a bundle with that
// schedule carry the values that the program passed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "session/record/node.h"
#include "session/record/node_run.h"
#include "state/ticks.h"

namespace leapp::state {

/// When one node ran.
struct NodeTiming {
  int turns = 0;                ///< number of passes, of which those of a repeat count as one
  std::vector<int> ticks = {};  ///< in which it ran, ascending
  /// The number of ticks for which it is known whether the node ran: the trace may end within one.
  int known = 0;
  std::int64_t every = 0;  ///< its period in ticks; 0: it has none
  int periods = 0;         ///< number of whole periods
  std::int64_t repeat = 1;
  std::map<std::string, std::string> carry = {};  ///< output -> input that reads it in the next run
  std::string index = {};  ///< input that received the number of the run; or empty

  std::int64_t phase() const { return ticks.front(); }
};

struct ScheduleFit {
  std::string misfit = {};                ///< why the program is not like that; empty if it is
  session::NodeId base = session::kNoId;  ///< the node that runs in every tick
  std::map<session::NodeId, NodeTiming> timings = {};
  std::map<session::NodeId, int> order = {};  ///< position in a tick
  Ticks ticks = {};
};

/// Choices that the order of the passes leaves open.
struct Assumptions {
  /// Nodes whose consecutive passes are runs in one tick: that many, or 0 for all of them.
  std::map<session::NodeId, std::int64_t> repeats = {};
  /// Nodes that run before the node that defines the tick, although they first completed a pass
  /// after it, or the other way round.
  std::set<session::NodeId> moved = {};
};

/// Reads the passes under these assumptions. Every node has completed a pass.
ScheduleFit fit_schedule(std::span<const session::Node* const> nodes, const session::RunLog& runs,
                         const Assumptions& assumptions = {});

}  // namespace leapp::state
