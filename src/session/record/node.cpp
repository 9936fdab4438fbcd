#include "session/record/node.h"

#include <algorithm>

namespace leapp::session {

std::string not_traced_text(const std::string& node, const std::string& output) {
  return "outputs of node '" + node + "' are non-traced tensors: '" + output +
         "' does not depend on the node's inputs. Compute it from what input_tensors() returned; a "
         "constant can be a static output.";
}

const NodePort* find_port(const std::vector<NodePort>& ports, const std::string& name) {
  const auto it = std::ranges::find(ports, name, &NodePort::name);
  return it == ports.end() ? nullptr : &*it;
}

const Node* find_node(std::span<const Node* const> nodes, NodeId id) {
  const auto it = std::ranges::find(nodes, id, &Node::id);
  return it == nodes.end() ? nullptr : *it;
}

}  // namespace leapp::session
