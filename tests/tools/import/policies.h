// Policies in memory, for the tests of the format readers: no file, no runtime.
#pragma once

#include <string>
#include <vector>

#include "import/meaning.h"
#include "import/policy_model.h"
#include "support.h"

namespace leapp::testing {

/// Returns a policy of one observation and one action, actions = tanh(obs).
inline importing::PolicyModel policy_of(std::int64_t observation, std::int64_t action) {
  importing::PolicyModel policy;
  policy.inputs = {importing::plain_port("obs", {1, observation})};
  policy.outputs = {importing::plain_port("actions", {1, action})};
  policy.opset = 17;
  policy.model.ir_version = 8;
  policy.model.opsets = {{"", 17}};
  policy.model.graph.inputs = {value("obs", {1, observation})};
  policy.model.graph.outputs = {value("actions", {1, action})};
  policy.model.graph.nodes = {node("Tanh", {"obs"}, {"actions"})};
  return policy;
}

}  // namespace leapp::testing
