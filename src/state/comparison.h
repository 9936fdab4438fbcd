// Differences between later passes of a node and an earlier one.
//
// A pass that runs other operators, or the same operators with other numbers, shows that a value
// that the export treats as a constant varies.
#pragma once

#include <string>
#include <vector>

#include "state/carried.h"

namespace leapp::state {

struct Difference {
  std::string text;
  std::string cause;      ///< equal for differences with one cause
  trace::FrameRef where;  ///< the user's line in the later pass
  bool constant = false;  ///< the operators are equal, but an unexplained constant differs
};

/// Returns each difference from the base once, in the order of the passes, for operators that
/// compute outputs and states. `carried` is the result of find_carried() for the subject.
std::vector<Difference> compare_passes(const Subject& subject, const Carried& carried);

}  // namespace leapp::state
