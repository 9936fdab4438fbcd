// One stage of the pipeline, with its ports and its recorded passes.
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
#include "session/record/played_pass.h"

namespace leapp::session {

/// An annotated port and its source.
struct NodePort : Port {
  std::optional<PortId> source = {};  ///< input: the output that it receives, if known
  Age age = {};                       ///< input: age of the values from its source
  bool is_static = false;             ///< output: a constant
  bool is_drawn = false;              ///< input: random numbers that the node drew
  bool is_between = false;            ///< output: operators outside the node that became part of it
};

struct Node {
  std::string name;
  NodeId id = kNoId;
  bool is_playback = false;  ///< LEAPP made it: it outputs the elements of another node's chunks
  bool traced = true;        ///< false: the node is listed in non_traced
  bool read_values = false;  ///< a pass read numbers from traced tensors, and may branch on them
  int completed = 0;         ///< number of completed passes; the first ones are in `passes`
  int completion = -1;       ///< position among the nodes, by first completion
  int turns = 0;             ///< number of times that it ran after another node, or first

  std::vector<NodePort> inputs;
  std::vector<NodePort> outputs;
  std::vector<NodePort> states;     ///< explicit states, in the order declared
  std::set<std::string> undecided;  ///< outputs that depend on no input and may be state
  std::optional<std::string> export_with;
  Metadata::Map backend_params;
  NamedTensors constants;                ///< constants that the user acknowledged
  std::optional<NodeSchedule> schedule;  ///< stated by the annotation
  std::vector<Pass> passes;
  std::vector<PlayedPass> played;  ///< passes that output results of earlier ones, in order

  bool complete() const noexcept { return completed > 0; }
  /// Returns whether its recorded operators are exported, rather than a model of the user.
  bool has_graph() const noexcept { return traced && export_with.has_value(); }
};

/// Returns the message about an output that depends on no input.
std::string not_traced_text(const std::string& node, const std::string& output);

/// Returns the port of that name, or nullptr.
const NodePort* find_port(const std::vector<NodePort>& ports, const std::string& name);

/// Returns the node with that id, or nullptr. `nodes` need not contain all nodes.
const Node* find_node(std::span<const Node* const> nodes, NodeId id);

}  // namespace leapp::session
