// How old the values are that an input receives from its source.
//
// A wire of a bundle hands over the value of the same tick, or of the tick before. What the program
// did shows in its passes: which of its source's values each of them received.
#pragma once

#include <optional>

#include "trace/source.h"

namespace leapp::session {

class Age {
 public:
  /// One pass that received a value of the source. Passes count from 0.
  struct Read {
    int pass = 0;         ///< of the reader
    int source_pass = 0;  ///< in which the source put the value out
    int completed = 0;    ///< passes that the source had completed by then
    trace::FrameRef where = {};

    int distance() const { return pass - source_pass; }
    /// How many newer values the source had put out.
    int newer() const { return completed - 1 - source_pass; }
  };

  void add(const Read& read);

  /// How many passes received a value.
  int reads() const noexcept { return reads_; }
  const Read& first() const noexcept { return first_; }
  /// The first that was not as far from its value as the first of all; else the first of all.
  const Read& deviating() const noexcept { return deviating_; }

  /// The reader's passes less the source's, where that is always the same: both ran equally often.
  std::optional<int> distance() const;

  /// How many ticks old a value is, where both nodes run once in each of them: `least` or more,
  /// which is 0 for a source that runs before its reader and 1 for any other.
  int delay(int least) const;

 private:
  int reads_ = 0;
  Read first_;
  Read deviating_;
  bool steady_distance_ = true;
  bool steady_newer_ = true;
};

}  // namespace leapp::session
