// Infers the schedule of a pipeline from the order of its passes and the values that they received.
//
// A program whose nodes all run once per tick has no schedule. Otherwise the node that runs most
// often defines the tick, and every other node needs an entry: a period, a condition, or several
// runs on its own results. The passes must show it at least twice, and must not fit another
// schedule as well; the user may then state it. A stated schedule takes precedence and is compared
// with the passes.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "session/record/node_run.h"
#include "state/state.h"
#include "state/ticks.h"

namespace leapp::state {

struct InferredSchedule {
  /// Nodes that do not run once in every tick. Ports have their annotated names; a condition is an
  /// output if the node has an output of that name.
  std::vector<NodeSchedule> entries = {};
  Ticks ticks = {};  ///< empty if there is no entry
  /// With entries, all nodes: in the order of a tick, and as if of several runs in a tick only the
  /// first one had received values.
  std::map<NodeId, Node> changed = {};
  /// The entries as text: "planner: in every 5th tick of tracker, seen 3 times".
  std::vector<std::string> remarks = {};
  /// LP309: the program runs its nodes at different rates, and no schedule is certain.
  std::optional<Diagnostic> refusal = {};
};

/// Returns the schedule of the nodes, which all completed a pass. `runs` contains all passes.
/// Throws Error if a stated entry names a node or port that does not exist.
InferredSchedule infer_schedule(std::span<const Node* const> nodes, const session::RunLog& runs,
                                const std::vector<NodeSchedule>& stated);

}  // namespace leapp::state
