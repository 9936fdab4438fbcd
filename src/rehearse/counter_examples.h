// Looks for inputs on which an exported model computes something else than what was traced.
//
// Validation compares on the traced passes, where a conversion may be right by chance. Here the
// recorded operators run once more, in ATen, on inputs that were never seen, and the model beside
// them. Where the two differ by more than rounding can explain, the conversion is wrong, and the
// node fails validation. A function without state that the user named is called on the same inputs:
// if it differs, it chose a branch or took a number by the values it was traced with.
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
  /// How long this thread may work; a run is not begun that is expected to take longer. Other work
  /// on the machine takes nothing of it, so that what is found does not depend on that. nullopt:
  /// until all is tried.
  std::optional<std::chrono::nanoseconds> budget = {};
  int rounds = 1;                          ///< how often each kind of inputs is tried
  std::vector<std::string> rerun = {};     ///< nodes whose function may be called, too
  session::FrontEnd* front_end = nullptr;  ///< calls functions of the program; null: nothing does
  Checkpoint checkpoint = {};              ///< called before each trial
};

/// What is tried of an export that began then: as much as a fifth of the time since allows, or 50
/// ms where that is more; when thorough, everything many times.
CounterExampleOptions trials_for(const Tolerance& tolerance, bool thorough,
                                 std::chrono::steady_clock::time_point began);

/// Tries the nodes one after the other; `engines` are those of their models, null where there is
/// none. A node that differs gets a failed outcome, and an error in the log with port, kind of
/// inputs, error and line (LP947). What its function differs in is returned, as warnings (LP948).
/// Nodes whose values cannot be compared are left out: models of the user's own, and nodes that
/// draw random numbers, run operators of the user's, have sizes that depend on values, or a first
/// tick or delays of their own.
std::vector<Diagnostic> try_unseen_inputs(const std::vector<ExportedNode>& nodes,
                                          const std::vector<std::unique_ptr<Engine>>& engines,
                                          const CounterExampleOptions& options,
                                          std::vector<NodeOutcome>& outcomes);

}  // namespace leapp::rehearse
