// What later passes of a node do otherwise than an earlier one.
//
// A pass that runs other operators, or the same ones with other numbers, shows that something the
// export takes for constant is not.
#pragma once

#include <string>
#include <vector>

#include "state/carried.h"

namespace leapp::state {

struct Difference {
  std::string text;
  std::string cause;      ///< the same for differences that have one cause
  trace::FrameRef where;  ///< the user's line in the later pass
  bool constant = false;  ///< it ran the same on another constant, which nothing explains
};

/// Returns each difference from the base once, in the order of the passes: in the operators that
/// compute outputs and states. `carried` is what find_carried() returned for the subject.
std::vector<Difference> compare_passes(const Subject& subject, const Carried& carried);

}  // namespace leapp::state
