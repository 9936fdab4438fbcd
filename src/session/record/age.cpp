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
  // The program ran all passes of one node before those of the next node, not tick by tick.
  if (!steady_newer_) return by_passes;
  // One node may have run alone at first; the number of newer values is still correct.
  const int by_newer = first_.newer() + least;
  // With a single pass this is unknown: the source may have run once more to create a sample.
  const bool alone = reads_ == 1 && first_.pass == 0;
  return alone ? std::min(by_passes, by_newer) : by_newer;
}

}  // namespace leapp::session
