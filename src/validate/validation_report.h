// The report of a validation as data: validation.json, rule B34 of docs/reference/bundle.md.
#pragma once

#include <string>
#include <vector>

#include "leapp/trace/node_outcome.h"
#include "leapp/visibility.h"

namespace leapp {

/// Numbers of nodes by result.
struct ValidationCounts {
  std::size_t passed = 0;        ///< values agreed, or there is no model to run
  std::size_t failed = 0;        ///< values differ
  std::size_t errored = 0;       ///< a model could not be run
  std::size_t not_compared = 0;  ///< ran, but without a value to compare with
};

LEAPP_EXPORT ValidationCounts count(const std::vector<NodeOutcome>& outcomes);

/// Returns the document. `yaml_sha256sum` is the checksum of the YAML of these models.
LEAPP_EXPORT std::string validation_json(const std::vector<NodeOutcome>& outcomes,
                                         const Tolerance& tolerance,
                                         const std::string& yaml_sha256sum);

}  // namespace leapp
