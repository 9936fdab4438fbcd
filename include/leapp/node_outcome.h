// What validation found of one exported node.
#pragma once

#include <string>

namespace leapp {

struct NodeOutcome {
  std::string node;
  bool passed = true;
  std::string error;  ///< why its model could not be run at all; empty when it ran
};

}  // namespace leapp
