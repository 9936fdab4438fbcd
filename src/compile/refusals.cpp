#include "compile/refusals.h"

#include <algorithm>
#include <utility>

#include "base/find.h"
#include "leapp/error.h"

namespace leapp::compile {

void Refusals::add(Diagnostic refusal) {
  if (strict_) {
    throw Error(refusal.code, (refusal.where.empty() ? "" : refusal.where + ": ") + refusal.text);
  }
  refusals_.push_back(std::move(refusal));
}

void Refusals::take_from(std::vector<Diagnostic>& findings, bool has_schedule) {
  const auto stays = [](const Diagnostic& each) {
    return each.code != Code::kRates && each.code != Code::kForeignValue &&
           each.code != Code::kWrittenArray;
  };
  const auto refused = std::ranges::stable_partition(findings, stays);
  for (const Diagnostic& each : refused) {
    if (each.code != Code::kRates || !has_schedule) add(each);
  }
  findings.erase(refused.begin(), refused.end());
}

void Refusals::fail(std::vector<NodeOutcome>& outcomes) const {
  for (const Diagnostic& refusal : refusals_) fail_node(outcomes, refusal);
}

void fail_node(std::vector<NodeOutcome>& outcomes, const Diagnostic& finding) {
  NodeOutcome* outcome = find_in(outcomes, finding.node, &NodeOutcome::node);
  if (outcome == nullptr) outcome = &outcomes.emplace_back(NodeOutcome{.node = finding.node});
  outcome->passed = false;
  if (outcome->difference.empty()) outcome->difference = finding.text;
}

}  // namespace leapp::compile
