// The nodes of a session and their open passes.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "session/open_pass.h"

namespace leapp::session {

/// Owns the nodes in the order in which they were first opened; a node's id is its position.
/// References to nodes stay valid.
///
/// Not thread-safe: the session's lock guards it.
class NodeTable {
 public:
  auto begin() noexcept { return nodes_.begin(); }
  auto begin() const noexcept { return nodes_.begin(); }
  auto end() noexcept { return nodes_.end(); }
  auto end() const noexcept { return nodes_.end(); }
  std::size_t size() const noexcept { return nodes_.size(); }

  /// Returns nullptr if there is no such node.
  SessionNode* find(const std::string& name);
  SessionNode& at(NodeId id) { return nodes_[static_cast<std::size_t>(id)]; }
  const SessionNode& at(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  /// Throws PlacedError if the name is invalid for a node.
  SessionNode& add(const std::string& name, bool traced);
  /// Removes the node that was added last.
  void remove_last() { nodes_.pop_back(); }

  /// Opens a pass of the node for the calling thread.
  void open_pass(SessionNode& node, bool recorded, trace::FrameRef frame);
  /// Closes the node's pass. Only the line that opened it is kept.
  void close_pass(SessionNode& node);
  int open_passes() const noexcept { return open_; }
  int recorded_passes() const noexcept { return recorded_; }
  std::vector<std::string> open_names() const;
  /// Returns the open node of that name. Throws PlacedError if it is not open, or was opened by
  /// another thread; `call` is the annotation that needs it.
  SessionNode& require_open(const std::string& name, const char* call);

  // Functions of annotate.method that are running.
  void enter_function(const std::string& node) { functions_.push_back(node); }
  void leave_function(const std::string& node);
  /// Returns the node of the innermost running function, or nullptr.
  const std::string* running_function() const {
    return functions_.empty() ? nullptr : &functions_.back();
  }

  /// Returns whether the tensor's memory was an input of the first or the latest pass of a traced
  /// node.
  bool is_input(const at::Tensor& tensor) const;

 private:
  std::deque<SessionNode> nodes_;
  std::vector<std::string> functions_;  // innermost last
  int open_ = 0;
  int recorded_ = 0;
};

/// Throws PlacedError if the node's pass was opened by another thread.
void check_thread(const SessionNode& node);

}  // namespace leapp::session
