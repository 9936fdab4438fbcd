// Describes a bundle in the metadata that controllers of mjlab and BeyondMimic read.
#pragma once

#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/inference_manager.h"

namespace leapp {

/// One part of such a controller's observation, and the corresponding input of the bundle.
struct PolicyTerm {
  std::string name;
  const Port* port = nullptr;
  bool offset_from_base = false;  ///< relative to the default pose
  bool command = false;
};

/// Facts about a merged bundle of one node. Points into the bundle.
struct PolicyFile {
  std::vector<std::string> joints;
  std::vector<double> default_position;
  std::vector<double> stiffness;
  std::vector<double> damping;
  std::vector<double> scale;  ///< target = default position + scale * action
  std::vector<PolicyTerm> terms;
  const Port* target = nullptr;
  const Port* action = nullptr;  ///< the output that is fed back; null: computed from the target
};

/// Returns everything except the scale and the gains, from the bundle's metadata. Throws LP825.
PolicyFile describe_policy(const Bundle& bundle);

/// Finds the scale and the gains by running the bundle. Throws LP825.
void measure_policy(PolicyFile& policy, const Bundle& bundle, InferenceManager& manager);

}  // namespace leapp
