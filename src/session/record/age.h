// The age of the values that an input receives from its source.
//
// A wire of a bundle carries the value of the same tick or of the previous tick. The passes show
// which value of its source the program passed to each of them.
#pragma once

#include <optional>

#include "trace/source.h"

namespace leapp::session {

class Age {
 public:
  /// One pass that received a value of the source. Passes count from 0.
  struct Read {
    int pass = 0;         ///< pass of the reader
    int source_pass = 0;  ///< pass of the source that output the value
    int completed = 0;    ///< completed passes of the source when the value was read
    trace::FrameRef where = {};

    int distance() const { return pass - source_pass; }
    /// Returns the number of newer values that the source had output.
    int newer() const { return completed - 1 - source_pass; }
  };

  void add(const Read& read);

  /// Returns the number of passes that received a value.
  int reads() const noexcept { return reads_; }
  const Read& first() const noexcept { return first_; }
  /// Returns the first read whose distance differs from that of the first read; otherwise the
  /// first.
  const Read& deviating() const noexcept { return deviating_; }

  /// Returns the reader's pass minus the source's, if that is always the same: both ran equally
  /// often.
  std::optional<int> distance() const;

  /// Returns the delay in ticks if both nodes run once per tick. It is at least `least`: 0 for a
  /// source that runs before its reader, 1 for any other.
  int delay(int least) const;

 private:
  int reads_ = 0;
  Read first_;
  Read deviating_;
  bool steady_distance_ = true;
  bool steady_newer_ = true;
};

}  // namespace leapp::session
