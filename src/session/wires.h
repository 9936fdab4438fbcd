// From the sources that inputs were seen to have to the pipeline section of the bundle.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "session/node.h"

namespace leapp::session {

/// A node ready for the bundle: its final ports and which of them are state.
struct CompiledNode {
  const Node* node = nullptr;
  Model model;
  /// For each port of the model, the name it was annotated with.
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  /// For each output of the model, the least precise type it was computed in; may be empty.
  std::vector<DType> output_precisions;
  /// State: an input and what feeds it, by the names they were annotated with.
  struct StateWire {
    std::string input;
    NodeId from = kNobody;  ///< the node itself, or one it shares the state with
    std::string output;
    bool only_state = true;  ///< false: it is an output of the node in its own right
    bool last_tick = false;  ///< what it was in the tick before, also where `from` runs earlier
  };
  std::vector<StateWire> state_wires;
};

/// The node with that id; nullptr where it was not compiled.
const CompiledNode* find_node(const std::vector<CompiledNode>& nodes, NodeId id);

/// How many ticks ago the source of an input put out what it receives: 0 and 1 are wires.
int delay_of(const Node& to, const NodePort& input, const Node& from);

/// Wires, graph inputs and graph outputs. `nodes` are in order of completion.
Pipeline connect(const std::vector<CompiledNode>& nodes);

/// "Computation nodes: 2" and so on, for the log.
std::vector<std::string> statistics(const Bundle& bundle);

}  // namespace leapp::session
