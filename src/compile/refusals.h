// Findings for which the bundle would not run as its program: nodes at different rates without a
// certain schedule, arrays of unknown origin.
#pragma once

#include <vector>

#include "leapp/trace/diagnostic.h"
#include "leapp/trace/node_outcome.h"

namespace leapp::compile {

class Refusals {
 public:
  /// Creates an empty list. If `strict`, the first refusal throws its Error; otherwise its node
  /// fails validation.
  explicit Refusals(bool strict) : strict_(strict) {}

  void add(Diagnostic refusal);
  /// Moves such findings out of `findings`; drops those about rates if there is a schedule.
  void take_from(std::vector<Diagnostic>& findings, bool has_schedule);

  /// Returns the refusals so far, which the caller reports.
  const std::vector<Diagnostic>& all() const noexcept { return refusals_; }
  /// Marks the nodes as failed, and adds those that are missing.
  void fail(std::vector<NodeOutcome>& outcomes) const;

 private:
  bool strict_;
  std::vector<Diagnostic> refusals_;
};

/// Marks the node of a finding as failed, with the finding as the difference.
void fail_node(std::vector<NodeOutcome>& outcomes, const Diagnostic& finding);

}  // namespace leapp::compile
