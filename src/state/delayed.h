// Inputs whose source put their value out two ticks ago or more: last_last_action, a history of
// actions as declared inputs.
//
// A wire hands a value over in the same tick or in the next. For one that is older, the node that
// reads it keeps it: each link is a state that takes in the value of the tick before and puts it
// out unchanged for the next, and the input receives what the last link puts out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "state/state.h"

namespace leapp::state {

/// How many ticks ago the source of an input put out what it receives: 0 and 1 are wires.
int delay_of(const Node& to, const NodePort& input, const Node& from);

struct Delayed {
  std::vector<State> links;  ///< fed by the source, or by the link before (an index of these)
  /// The input that receives what a link puts out.
  struct Received {
    std::string input;
    std::size_t link = 0;
  };
  std::vector<Received> received;
  Findings remarks;  ///< what was done, for the log
};

/// The links that the inputs called `used` need. Inputs of one source share links as far as they
/// begin with the same values. `states` are those of the node already, for names that are not
/// taken. Throws Error where a delay is longer than the passes whose values were kept.
Delayed find_delayed(const NodeStates& states, const std::vector<std::string>& used,
                     std::span<const Node* const> nodes);

/// Throws Error when an input needs a link: for models that are taken as they are.
void refuse_delays(const Node& node, std::span<const Node* const> nodes);

}  // namespace leapp::state
