#include "session/node_table.h"

#include <algorithm>

#include "base/find.h"
#include "base/join.h"
#include "bundle/port_rules.h"
#include "session/placed_error.h"

namespace leapp::session {

bool OpenPass::has(const std::string& name) const {
  return std::ranges::count(record.recording.inputs, name, &trace::Recording::Port::name) > 0 ||
         std::ranges::count(record.states, name, &Declared::name) > 0;
}

SessionNode* NodeTable::find(const std::string& name) {
  return find_in(nodes_, name, &SessionNode::name);
}

SessionNode& NodeTable::add(const std::string& name, bool traced) {
  if (const std::string fault = find_node_name_fault(name); !fault.empty()) {
    refuse(Code::kBadName, "invalid name of a node: " + fault);
  }
  SessionNode& node = nodes_.emplace_back();
  node.name = name;
  node.id = static_cast<NodeId>(nodes_.size()) - 1;
  node.traced = traced;
  return node;
}

void NodeTable::open_pass(SessionNode& node, bool recorded, trace::FrameRef frame) {
  node.pass = {.open = true, .recorded = recorded, .thread = std::this_thread::get_id()};
  node.pass.inside = std::make_shared<const Tag>(Tag{node.id, "", {}, node.completed});
  node.pass.record.opened_at = frame;
  ++open_;
  if (recorded) ++recorded_;
}

void NodeTable::close_pass(SessionNode& node) {
  if (!node.pass.open) return;
  --open_;
  if (node.pass.recorded) --recorded_;
  const trace::FrameRef opened_at = node.pass.record.opened_at;
  node.pass = {};
  node.pass.record.opened_at = opened_at;
}

std::vector<std::string> NodeTable::open_names() const {
  std::vector<std::string> names;
  for (const SessionNode& node : nodes_) {
    if (node.pass.open) names.push_back(node.name);
  }
  return names;
}

SessionNode& NodeTable::require_open(const std::string& name, const char* call) {
  SessionNode* node = find(name);
  if (node == nullptr || !node->pass.open) {
    refuse(Code::kNodeNotOpen, std::string("annotate.") + call + "() for node '" + name +
                                   "', but annotate.input_tensors() was never called for it" +
                                   (node != nullptr ? " in this pass" : "") +
                                   ". Call annotate.input_tensors() first. Open nodes: " +
                                   join_quoted(open_names()) + ".");
  }
  check_thread(*node);
  return *node;
}

void NodeTable::leave_function(const std::string& node) {
  const auto last = std::find(functions_.rbegin(), functions_.rend(), node);
  if (last != functions_.rend()) functions_.erase(std::next(last).base());
}

bool NodeTable::is_input(const at::Tensor& tensor) const {
  if (trace::memory_of(tensor) == nullptr) return false;
  const auto took = [&](const Pass& pass) {
    return std::ranges::any_of(pass.recording.inputs, [&](const trace::Recording::Port& port) {
      return pass.tape().tensor(port.var).is_alias_of(tensor);
    });
  };
  return std::ranges::any_of(nodes_, [&](const SessionNode& node) {
    if (node.passes.empty() || !node.traced) return false;
    return took(node.passes.front()) || took(node.passes.back());
  });
}

void check_thread(const SessionNode& node) {
  if (node.pass.thread == std::this_thread::get_id()) return;
  refuse(Code::kWrongThread, "node '" + node.name +
                                 "' was opened by another thread. A node must be traced from one "
                                 "thread, from its first input_tensors() to its output_tensors().");
}

}  // namespace leapp::session
