#include "compile/failure_signs.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/find.h"
#include "leapp/code.h"

namespace leapp::compile {
namespace {

bool has_failed(const std::vector<NodeOutcome>& outcomes, const std::string& node) {
  const NodeOutcome* outcome = find_in(outcomes, node, &NodeOutcome::node);
  return outcome != nullptr && !outcome->passed;
}

}  // namespace

void FailureSigns::hold_from(std::vector<Diagnostic>& findings) {
  const auto is_other = [](const Diagnostic& finding) {
    return finding.code != Code::kPassesDiffer && finding.code != Code::kUnknownSource;
  };
  const auto signs = std::ranges::stable_partition(findings, is_other);
  std::ranges::move(signs, std::back_inserter(held_));
  findings.erase(signs.begin(), signs.end());
}

std::string FailureSigns::first(const std::vector<NodeOutcome>& outcomes) const {
  for (const Diagnostic& sign : held_) {
    if (!has_failed(outcomes, sign.node)) continue;
    const char* end = sign.text.ends_with('.') ? "" : ".";
    return "First sign: " + (sign.where.empty() ? "" : sign.where + ": ") + sign.text + end;
  }
  return {};
}

std::vector<Diagnostic> FailureSigns::release(const std::vector<NodeOutcome>& outcomes) {
  std::vector<Diagnostic> released = std::exchange(held_, {});
  for (Diagnostic& sign : released) {
    if (has_failed(outcomes, sign.node)) sign.level = LogLevel::kInfo;
  }
  return released;
}

}  // namespace leapp::compile
