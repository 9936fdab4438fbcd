// Findings that explain why a node fails validation.
#pragma once

#include <string>
#include <vector>

#include "leapp/trace/diagnostic.h"
#include "leapp/trace/node_outcome.h"

namespace leapp::compile {

/// Keeps such findings until the validation is done, so that one cause gives one message: the error
/// of a failed node names its first sign, and the other signs are only logged.
class FailureSigns {
 public:
  /// Moves the findings about passes that differ out of `findings`.
  void hold_from(std::vector<Diagnostic>& findings);

  /// Returns the first sign of a failed node as a sentence with its line, or "".
  std::string first(const std::vector<NodeOutcome>& outcomes) const;

  /// Returns everything that is kept. Signs of failed nodes become messages for the log only.
  std::vector<Diagnostic> release(const std::vector<NodeOutcome>& outcomes);

 private:
  std::vector<Diagnostic> held_;
};

}  // namespace leapp::compile
