// Looks for inputs on which an exported model differs from the traced operators.
//
// Validation compares on the traced passes, where a conversion may be right by chance. Here the
// recorded operators run again, in ATen, on untraced inputs, and so does the model. If the two
// differ by more than rounding, the conversion is wrong, and the node fails validation. A stateless
// function that the user named is called on the same inputs; if it differs, a traced value decided
// a branch or a number.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "base/checkpoint.h"
#include "leapp/engine.h"
#include "leapp/trace/node_outcome.h"
#include "rehearse/exported_node.h"
#include "session/front_end_interface.h"

namespace leapp::rehearse {

struct CounterExampleOptions {
  Tolerance tolerance;
  /// CPU time limit of this thread; a run that is expected to exceed it is not started. Other work
  /// on the machine does not count, so it does not affect results. nullopt: no limit.
  std::optional<std::chrono::nanoseconds> budget = {};
  int rounds = 1;                          ///< number of trials of each kind of inputs
  std::vector<std::string> rerun = {};     ///< nodes whose function may be called
  session::FrontEnd* front_end = nullptr;  ///< calls functions of the program; null: calls none
  Checkpoint checkpoint = {};              ///< called before each trial
};

/// Returns the trials for an export that started at that time: with a limit of a fifth of the time
/// since then, but at least 50 ms; if thorough, many trials without a limit.
CounterExampleOptions trials_for(const Tolerance& tolerance, bool thorough,
                                 std::chrono::steady_clock::time_point began);

/// Tries the nodes one after the other; `engines` are those of their models, or null. A node that
/// differs gets a failed outcome, and an error in the log with port, kind of inputs, error and line
/// (LP947). Differences of its function are returned as warnings (LP948). Nodes whose values cannot
/// be compared are skipped: user models, and nodes that draw random numbers, run user operators,
/// have sizes that depend on values, a special first tick, or delays.
std::vector<Diagnostic> try_unseen_inputs(const std::vector<ExportedNode>& nodes,
                                          const std::vector<std::unique_ptr<Engine>>& engines,
                                          const CounterExampleOptions& options,
                                          std::vector<NodeOutcome>& outcomes);

}  // namespace leapp::rehearse
