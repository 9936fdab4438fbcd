#include "session/record/node.h"

#include "base/find.h"

namespace leapp::session {

std::string not_traced_text(const std::string& node, const std::string& output) {
  return "outputs of node '" + node + "' are non-traced tensors: '" + output +
         "' does not depend on the node's inputs. Compute it from the result of input_tensors(), "
         "or declare a constant as a static output.";
}

const NodePort* find_port(const std::vector<NodePort>& ports, const std::string& name) {
  return find_in(ports, name, &NodePort::name);
}

const Node* find_node(std::span<const Node* const> nodes, NodeId id) {
  const Node* const* found = find_in(nodes, id, &Node::id);
  return found == nullptr ? nullptr : *found;
}

}  // namespace leapp::session
