// One stage of the pipeline, as the annotations describe it and the passes fill it.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/leapp.h"
#include "leapp/metadata.h"
#include "session/record/age.h"
#include "session/record/pass.h"

namespace leapp::session {

/// A port as it was annotated, and where what it receives comes from.
struct NodePort : Port {
  std::optional<PortId> source = {};   ///< input: the output it receives, once one is known
  Age age = {};                        ///< input: how old what it receives from its source is
  std::optional<Age::Read> read = {};  ///< input: what the pass under way received from its source
  bool is_static = false;              ///< output: a constant
  bool is_between = false;  ///< output: made by computing behind the node, which took it in
};

struct Node {
  std::string name;
  NodeId id = kNoId;
  bool traced = true;        ///< false: listed in non_traced
  bool read_values = false;  ///< a pass took numbers out of the graph, and may have chosen by them
  int completed = 0;         ///< passes that ran; the first ones are in `passes`
  int completion = -1;       ///< position among the nodes, by first completion

  std::vector<NodePort> inputs;
  std::vector<NodePort> outputs;
  std::vector<NodePort> states;     ///< explicit states, in the order declared
  std::set<std::string> undecided;  ///< outputs of no input's, which may be state
  std::optional<std::string> export_with;
  Metadata::Map backend_params;
  NamedTensors constants;  ///< that the user acknowledged
  std::vector<Pass> passes;

  bool complete() const noexcept { return completed > 0; }
  /// Whether it is exported as what was recorded of it, and not as a model of the user's own.
  bool has_graph() const noexcept { return traced && export_with.has_value(); }
};

/// What is said of an output that depends on no input.
std::string not_traced_text(const std::string& node, const std::string& output);

/// The port of that name, or nullptr.
const NodePort* find_port(const std::vector<NodePort>& ports, const std::string& name);

/// The node with that id, or nullptr. `nodes` need not be all of them.
const Node* find_node(std::span<const Node* const> nodes, NodeId id);

}  // namespace leapp::session
