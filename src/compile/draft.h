// Nodes on their way from recorded passes to the graphs of their models.
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
  state::NodeStates states;  ///< only the node, where that has no graph
  session::Backend backend = session::Backend::kNone;
  trace::Purified pure = {};
  StateChoice choice = {};

  const Node& node() const { return *states.node; }
};

/// The name of a tensor of the program, for a constant; may be "".
using NameOf = std::function<std::string(const at::Tensor&)>;

/// Replays the exported pass as a pure graph. If the first tick differs, a flag selects it: the
/// last state. A node that may become ONNX if C++ cannot express it does so: its backend changes,
/// and the reason is returned.
std::optional<Diagnostic> purify(Draft& draft, const NameOf& name_of);

/// Chooses what each node takes in and puts out of its state. What one node needs may make another
/// one put it out, and so need more itself.
void choose_states(std::vector<Draft>& drafts);

/// Closes the graph of a draft, gives it the delays that its inputs need, simplifies it, and
/// describes the node without its file; its states move there. `nodes` are all of them; what there
/// is to say is added to `findings`.
ExportedNode finish(Draft& draft, std::span<const Node* const> nodes, state::Findings& findings);

}  // namespace leapp::compile
