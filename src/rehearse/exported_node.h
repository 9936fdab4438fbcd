// A node with its model and its traced values: everything that is needed to compare the two.
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
  /// The node and its states, of which the model may need only some.
  state::NodeStates states;
  Model model = {};
  /// For each port of the model, its annotated name.
  std::vector<std::string> input_names = {};
  std::vector<std::string> output_names = {};
  /// For each output of the model, the least precise type in its computation; may be empty.
  std::vector<DType> output_precisions = {};
  bool ours = false;    ///< the model was exported from recorded passes
  bool random = false;  ///< it draws random numbers

  const Node& node() const { return *states.node; }
  /// Uses the current names of the model's ports as their annotated names.
  void keep_names();
  /// Returns the annotated name of a port of the model.
  const std::string& input_name(const std::string& port) const;
  const std::string& output_name(const std::string& port) const;
  /// Returns the state of that name, or nullptr.
  const State* find_state(const std::string& name) const;
  /// Returns the value of a pass for an annotated name, of an input or output; undefined if it has
  /// none.
  at::Tensor input_value(std::size_t pass, const std::string& name) const;
  at::Tensor output_value(std::size_t pass, const std::string& name) const;
};

/// Returns the node with that id or name; nullptr if it was not exported.
const ExportedNode* find_node(const std::vector<ExportedNode>& nodes, NodeId id);
const ExportedNode* find_node(const std::vector<ExportedNode>& nodes, const std::string& name);

}  // namespace leapp::rehearse
