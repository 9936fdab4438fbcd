// A node with the model that was made of it, and what was traced there: all that it takes to run
// the one against the other.
#pragma once

#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/comparison.h"
#include "state/state.h"

namespace leapp::rehearse {

using session::Node;
using session::NodeId;
using session::NodePort;
using session::Pass;
using state::State;

struct ExportedNode {
  /// The node and what it keeps; there may be more states than the model needs.
  state::NodeStates states;
  Model model = {};
  /// For each port of the model, the name it was annotated with.
  std::vector<std::string> input_names = {};
  std::vector<std::string> output_names = {};
  /// For each output of the model, the least precise type it was computed in; may be empty.
  std::vector<DType> output_precisions = {};
  bool ours = false;    ///< the model was made of recorded passes
  bool random = false;  ///< it draws random numbers

  const Node& node() const { return *states.node; }
  /// Takes the names that the ports of the model have now for those they were annotated with.
  void keep_names();
  /// The name that a port of the model was annotated with.
  const std::string& input_name(const std::string& port) const;
  const std::string& output_name(const std::string& port) const;
  /// The state of that name, or nullptr.
  const State* find_state(const std::string& name) const;
  /// What a pass took in or put out under the name it was annotated with; undefined if nothing.
  at::Tensor input_value(std::size_t pass, const std::string& name) const;
  at::Tensor output_value(std::size_t pass, const std::string& name) const;
};

/// The node with that id or name; nullptr where it was not exported.
const ExportedNode* find_node(const std::vector<ExportedNode>& nodes, NodeId id);
const ExportedNode* find_node(const std::vector<ExportedNode>& nodes, const std::string& name);

}  // namespace leapp::rehearse
