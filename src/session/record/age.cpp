#include "session/record/age.h"

#include <algorithm>

namespace leapp::session {

void Age::add(const Read& read) {
  if (reads_++ == 0) first_ = deviating_ = read;
  if (steady_distance_ && read.distance() != first_.distance()) {
    steady_distance_ = false;
    deviating_ = read;
  }
  steady_newer_ = steady_newer_ && read.newer() == first_.newer();
}

std::optional<int> Age::distance() const {
  if (reads_ == 0 || !steady_distance_) return std::nullopt;
  return first_.distance();
}

int Age::delay(int least) const {
  if (reads_ == 0 || !steady_distance_) return least;
  const int by_passes = std::max(first_.distance(), least);
  // The passes of all nodes one after the other, and not tick by tick.
  if (!steady_newer_) return by_passes;
  // One of them may have run more often at first, alone; what came in between does not lie.
  const int by_newer = first_.newer() + least;
  // A single pass tells nothing apart: its source may have run once more for a sample.
  const bool alone = reads_ == 1 && first_.pass == 0;
  return alone ? std::min(by_passes, by_newer) : by_newer;
}

}  // namespace leapp::session
