// What validation found of one exported node.
#pragma once

#include <string>

namespace leapp {

struct NodeOutcome {
  std::string node;
  bool passed = true;             ///< nothing was found wrong; see not_compared
  std::string error = {};         ///< why its model could not be run at all; empty when it ran
  std::string not_compared = {};  ///< why its values were not compared; empty when they were
  std::string difference = {};    ///< the first: "'y' differs in pass 3"
};

}  // namespace leapp
