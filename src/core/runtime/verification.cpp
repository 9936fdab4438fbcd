#include "leapp/verification.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "compare/comparison_json.h"
#include "leapp/code.h"
#include "leapp/log.h"

namespace leapp {
namespace {

// Returns the check of a port with the largest error, alone or in the pipeline; null if there is
// none.
const PortVerification* worst_of(const Verification& verification, const std::string& port,
                                 bool wired) {
  const PortVerification* worst = nullptr;
  for (const PortVerification& check : verification.checks) {
    if (check.port != port || check.wired != wired) continue;
    const auto rank = [](const PortVerification& each) {
      return std::pair(!each.comparison.passed(), each.comparison.difference.max);
    };
    if (worst == nullptr || rank(check) > rank(*worst)) worst = &check;
  }
  return worst;
}

std::string describe(const char* how, const PortVerification* worst) {
  if (worst == nullptr) return {};
  char text[96];
  const Comparison& comparison = worst->comparison;
  std::snprintf(text, sizeof(text), ", %s %.3e in tick %zu", how, comparison.difference.max,
                worst->tick);
  if (comparison.passed()) return text;
  return std::string(text) + " (" + headline(comparison) + ")";
}

}  // namespace

bool Verification::compared() const noexcept {
  return std::any_of(checks.begin(), checks.end(),
                     [](const PortVerification& check) { return check.comparison.elements > 0; });
}

bool Verification::passed() const noexcept {
  return compared() && std::all_of(checks.begin(), checks.end(), [](const PortVerification& check) {
           return check.comparison.passed();
         });
}

std::string to_string(const Verification& verification) {
  std::vector<std::string> ports;
  for (const PortVerification& check : verification.checks) {
    if (std::find(ports.begin(), ports.end(), check.port) == ports.end()) {
      ports.push_back(check.port);
    }
  }
  std::string text;
  for (const std::string& port : ports) {
    const PortVerification* alone = worst_of(verification, port, false);
    const PortVerification* wired = worst_of(verification, port, true);
    const bool passed = (alone == nullptr || alone->comparison.passed()) &&
                        (wired == nullptr || wired->comparison.passed());
    const Tolerance& tolerance = (alone != nullptr ? alone : wired)->comparison.tolerance;
    text += (passed ? "ok    " : "WRONG ") + printable(port) + ": worst error" +
            describe("by its node", alone) + describe("in the pipeline", wired) + "; " +
            to_string(tolerance) + "\n";
  }
  for (const auto& [what, why] : verification.left_out) {
    text += "left out: " + printable(what) + ": " + printable(why) + "\n";
  }
  const std::string ticks = std::to_string(verification.ticks) + " golden tick(s)";
  if (!verification.compared()) {
    return text + "WRONG: no value of the " + ticks +
           " could be compared, so this machine is not verified" + tag_of(Code::kNothingCompared) +
           "\n";
  }
  if (!verification.passed()) return text + "WRONG: not all of the " + ticks + " were repeated\n";
  return text + "this machine repeats " +
         (verification.left_out.empty() ? "the " : "the compared values of the ") + ticks + "\n";
}

std::string to_json(const Verification& verification) {
  using Json = nlohmann::ordered_json;
  Json checks = Json::array();
  for (const PortVerification& check : verification.checks) {
    Json entry = {
        {"port", check.port}, {"tick", check.tick}, {"run", check.wired ? "pipeline" : "node"}};
    entry.update(to_json(check.comparison));
    checks.push_back(std::move(entry));
  }
  Json left_out = Json::object();
  for (const auto& [what, why] : verification.left_out) left_out[what] = why;
  const Json report = {{"ok", verification.passed()},
                       {"compared", verification.compared()},
                       {"ticks", verification.ticks},
                       {"checks", std::move(checks)},
                       {"left_out", std::move(left_out)}};
  return report.dump(2, ' ', true, Json::error_handler_t::replace);
}

}  // namespace leapp
