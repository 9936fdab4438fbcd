// The ticks of a traced program with a schedule: which passes of a node ran in which tick.
#pragma once

#include <map>
#include <vector>

#include "session/record/port_id.h"

namespace leapp::state {

class Ticks {
 public:
  /// Passes of one node in one tick: one, or those of a repeat.
  struct Turn {
    int tick = 0;
    int first = 0;  ///< a pass of the node
    int last = 0;

    bool operator==(const Turn&) const = default;
  };

  /// Adds a turn after the earlier ones of the node.
  void add(trace::NodeId node, const Turn& turn) { turns_[node].push_back(turn); }
  void set_count(int count) { count_ = count; }

  /// Returns whether the program has no schedule: then each pass is a tick.
  bool empty() const noexcept { return turns_.empty(); }
  /// Returns the number of ticks in which every node that was due ran.
  int count() const noexcept { return count_; }

  /// Returns the turn of a pass; null if it is in no tick.
  const Turn* turn_of(trace::NodeId node, int pass) const;
  /// Returns the node's turn in a tick; null if it did not run.
  const Turn* turn_in(trace::NodeId node, int tick) const;
  /// Returns the node's last turn in this tick or earlier; null if there is none.
  const Turn* latest(trace::NodeId node, int tick) const;

 private:
  const std::vector<Turn>& turns(trace::NodeId node) const;

  std::map<trace::NodeId, std::vector<Turn>> turns_;
  int count_ = 0;
};

}  // namespace leapp::state
