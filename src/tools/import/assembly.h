// From a Deployment to a bundle: the nodes around the policy, and the wires between them.
#pragma once

#include "import/deployment.h"
#include "import/draft.h"
#include "import/policy_model.h"

namespace leapp::importing {

/// Returns the bundle of a policy with one observation. Throws LP824 if the model does not match.
Draft assemble(const Deployment& deployment, const PolicyModel& policy);

/// Adds the keys of `pipeline.configs`: frequency, default pose, ranges of commands. Leaves out
/// ranges of elements that no command of `inputs` has.
void add_configs(Metadata::Map& configs, const Deployment& deployment,
                 const std::vector<Port>& inputs);

/// Feeds recurrent outputs of the node `name` back, starting from zeros, and hides them.
void feed_back_recurrent(Draft& draft, const PolicyModel& policy, const std::string& name);

}  // namespace leapp::importing
