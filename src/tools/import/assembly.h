// From a Deployment to a bundle: the nodes around the policy, and the wires between them.
#pragma once

#include "import/deployment.h"
#include "import/draft.h"
#include "import/policy_model.h"

namespace leapp::importing {

/// Returns the bundle of a policy with one observation. Throws LP824 where the model does not fit.
Draft assemble(const Deployment& deployment, const PolicyModel& policy);

/// Adds the keys of `pipeline.configs`: how often it runs, the default pose, ranges of commands.
/// Ranges of what no command of `inputs` has are left out.
void add_configs(Metadata::Map& configs, const Deployment& deployment,
                 const std::vector<Port>& inputs);

/// Feeds recurrent outputs of the node `name` back, zeros at first, and hides them.
void feed_back_recurrent(Draft& draft, const PolicyModel& policy, const std::string& name);

}  // namespace leapp::importing
