// A node ready for the bundle: its final ports, which of them are state, and what was traced there.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/diagnostic.h"
#include "state/state.h"

namespace leapp::compile {

using session::Node;
using session::NodeId;
using session::NodePort;
using session::Pass;
using state::State;

struct CompiledNode {
  const Node* node = nullptr;
  Model model;
  /// For each port of the model, the name it was annotated with.
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  /// For each output of the model, the least precise type it was computed in; may be empty.
  std::vector<DType> output_precisions;
  bool random = false;        ///< the model draws random numbers
  std::vector<State> states;  ///< those the model has
  /// State: an input and what feeds it, by the names they were annotated with.
  struct StateWire {
    std::string input;
    NodeId from = trace::kNobody;  ///< the node itself, or one it shares the state with
    std::string output;
    bool only_state = true;  ///< false: it is an output of the node in its own right
    bool last_tick = false;  ///< what it was in the tick before, also where `from` runs earlier
  };
  std::vector<StateWire> state_wires;

  /// The name that a port of the model was annotated with.
  const std::string& input_name(const std::string& port) const;
  const std::string& output_name(const std::string& port) const;
  /// What a pass took in or put out under the name it was annotated with; undefined if nothing.
  at::Tensor input_value(std::size_t pass, const std::string& name) const;
  at::Tensor output_value(std::size_t pass, const std::string& name) const;
};

/// The node with that id; nullptr where it was not compiled.
const CompiledNode* find_node(const std::vector<CompiledNode>& nodes, NodeId id);
const CompiledNode* find_node(const std::vector<CompiledNode>& nodes, const std::string& name);

/// A node that gets no model of ours, with its ports as they were annotated.
CompiledNode describe_only(const Node& node);

/// The inputs of such a node that nothing it puts out or keeps depends on, as its first pass shows;
/// none where that was not recorded.
std::set<std::string> unused_inputs(const Node& node);

/// What is said of an input that is left out.
Diagnostic unused_input(const Node& node, const std::string& input);

}  // namespace leapp::compile
