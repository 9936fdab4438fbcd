// Nodes between recorded passes and the graphs of their models.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "compile/state_choice.h"
#include "rehearse/exported_node.h"
#include "session/backend.h"
#include "trace/purify.h"

namespace leapp::compile {

using rehearse::ExportedNode;
using session::Node;

struct Draft {
  state::NodeStates states;  ///< only the node, if it has no graph
  session::Backend backend = session::Backend::kNone;
  trace::Purified pure = {};
  StateChoice choice = {};

  const Node& node() const { return *states.node; }
};

/// Returns the program's name of a tensor, for a constant; may be "".
using NameOf = std::function<std::string(const at::Tensor&)>;

/// Replays the exported pass as a pure graph. If the first tick differs, a flag selects it: the
/// last state. If C++ cannot express the node and it may become ONNX, changes its backend and
/// returns the reason.
std::optional<Diagnostic> purify(Draft& draft, const NameOf& name_of);

/// Selects the states that each node reads and outputs. A node may need a state that another node
/// then has to output, which may need more states in turn.
void choose_states(std::vector<Draft>& drafts);

/// Finishes the graph of a draft: adds the delays that its inputs need, simplifies it, and
/// describes the node without its file; its states are moved there. `nodes` contains all nodes.
/// Adds messages to `findings`.
ExportedNode finish(Draft& draft, std::span<const Node* const> nodes, state::Findings& findings);

}  // namespace leapp::compile
