#include "leapp/supervision.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/input_file.h"
#include "base/utf8.h"
#include "bundle/yaml_scalar.h"
#include "controller/strict_yaml.h"
#include "leapp/error.h"

namespace leapp {
namespace {

using Kind = YamlNode::Kind;
using Source = SwitchCondition::Source;

class SupervisionReader {
 public:
  explicit SupervisionReader(const std::string& file) : yaml_(file, Code::kSupervision) {}

  Supervision read(const YamlNode& root) const {
    yaml_.expect_keys(root, {"policies", "switches", "fallback", "blend_in"});
    Supervision supervision;
    const YamlNode* const policies = root.find("policies");
    if (policies == nullptr) yaml_.fail(root, "'policies' is missing: the bundles, by name");
    expect_kind(*policies, Kind::kMapping, "a mapping from names to policies");
    for (const YamlEntry& entry : policies->entries) {
      supervision.policies.push_back(read_policy(entry.key, entry.value));
    }
    if (const YamlNode* const switches = root.find("switches")) {
      expect_kind(*switches, Kind::kSequence, "a list of switches");
      for (const YamlNode& item : switches->items) {
        supervision.switches.push_back(read_switch(item));
      }
    }
    if (const YamlNode* const fallback = root.find("fallback")) {
      expect_kind(*fallback, Kind::kMapping, "a mapping from actuators to fallbacks");
      for (const YamlEntry& entry : fallback->entries) {
        supervision.fallback.emplace_back(yaml_.text(entry.key), read_fallback(entry.value));
      }
    }
    if (const YamlNode* const blend = root.find("blend_in")) {
      supervision.blend_in = yaml_.duration(*blend);
    }
    return supervision;
  }

 private:
  void expect_kind(const YamlNode& node, Kind kind, const std::string& what) const {
    if (node.kind != kind) yaml_.fail(node, "expected " + what + ", found " + describe(node));
  }

  SupervisedPolicy read_policy(const YamlNode& key, const YamlNode& node) const {
    yaml_.expect_keys(node, {"bundle", "frequency", "interpolation", "blend_in"});
    SupervisedPolicy policy;
    policy.name = yaml_.text(key);
    const YamlNode* const bundle = node.find("bundle");
    if (bundle == nullptr) yaml_.fail(key, "the policy has no 'bundle', a .yaml file");
    policy.bundle = yaml_.text(*bundle);
    if (const YamlNode* const frequency = node.find("frequency")) {
      policy.frequency = yaml_.number(*frequency);
    }
    if (const YamlNode* const interpolation = node.find("interpolation")) {
      const std::string name = yaml_.text(*interpolation);
      if (name != "hold" && name != "linear") {
        yaml_.fail(*interpolation, "expected hold or linear, found " + describe(*interpolation));
      }
      policy.linear = name == "linear";
    }
    if (const YamlNode* const blend = node.find("blend_in")) {
      policy.blend_in = yaml_.duration(*blend);
    }
    return policy;
  }

  SwitchRule read_switch(const YamlNode& node) const {
    yaml_.expect_keys(node, {"from", "to", "when"});
    SwitchRule rule;
    if (const YamlNode* const from = node.find("from")) rule.from = yaml_.text(*from);
    const YamlNode* const to = node.find("to");
    if (to == nullptr) yaml_.fail(node, "the switch has no 'to': a policy, or emergency_stop");
    rule.to = yaml_.text(*to);
    const YamlNode* const when = node.find("when");
    if (when == nullptr) yaml_.fail(node, "the switch has no 'when', such as {flag: button}");
    rule.when = read_condition(*when);
    return rule;
  }

  SwitchCondition read_condition(const YamlNode& node) const {
    yaml_.expect_keys(node, {"flag", "sensor", "port", "element", "above", "below"});
    SwitchCondition condition;
    int sources = 0;
    const auto take = [&](const char* key, Source source) {
      const YamlNode* const name = node.find(key);
      if (name == nullptr) return;
      ++sources;
      condition.source = source;
      condition.name = yaml_.text(*name);
    };
    take("flag", Source::kFlag);
    take("sensor", Source::kSensor);
    take("port", Source::kPort);
    if (sources != 1)
      yaml_.fail(node, "a condition needs exactly one of 'flag', 'sensor' and 'port'");
    if (const YamlNode* const element = node.find("element")) {
      condition.element = yaml_.text(*element);
    }
    if (const YamlNode* const above = node.find("above")) condition.above = yaml_.number(*above);
    if (const YamlNode* const below = node.find("below")) condition.below = yaml_.number(*below);
    return condition;
  }

  Fallback read_fallback(const YamlNode& node) const {
    if (node.kind == Kind::kSequence) {
      std::vector<double> numbers;
      for (const YamlNode& item : node.items) numbers.push_back(yaml_.number(item));
      return numbers;
    }
    expect_kind(node, Kind::kScalar, "hold, damp or numbers");
    if (node.text == "hold") return Hold{};
    if (node.text == "damp") return Damp{};
    if (std::holds_alternative<std::string>(resolve_scalar(node).value)) {
      yaml_.fail(node, "expected hold, damp or numbers, found " + describe(node));
    }
    return std::vector<double>{yaml_.number(node)};
  }

  StrictYaml yaml_;
};

void require_sense(bool condition, const std::string& what) {
  require(condition, Code::kSupervision, what);
}

bool has_policy(const Supervision& supervision, const std::string& name) {
  return std::any_of(supervision.policies.begin(), supervision.policies.end(),
                     [&](const SupervisedPolicy& policy) { return policy.name == name; });
}

void check_policy(const Supervision& supervision, std::size_t index) {
  const SupervisedPolicy& policy = supervision.policies[index];
  const std::string what = "policy " + quote_for_message(policy.name);
  require_sense(!policy.name.empty(), "a policy needs a name");
  require_sense(
      policy.name != kEmergencyStopName,
      "a policy must not be named emergency_stop, which is the target of an emergency stop");
  require_sense(policy.name.find('/') == std::string::npos, what + ": a name must not contain '/'");
  for (std::size_t i = 0; i < index; ++i) {
    require_sense(supervision.policies[i].name != policy.name, what + " appears twice");
  }
  require_sense(!policy.bundle.empty(), what + " has no bundle");
  require_sense(!policy.frequency || (*policy.frequency > 0 && std::isfinite(*policy.frequency)),
                what + ": the frequency must be positive");
  require_sense(!policy.blend_in || (*policy.blend_in >= 0 && *policy.blend_in <= 1e9),
                what + ": blend_in must be a number of seconds from 0 to 1e9");
}

void check_condition(const SwitchRule& rule, const std::string& what) {
  const SwitchCondition& when = rule.when;
  require_sense(!when.name.empty(), what + ": the condition is empty");
  require_sense(!when.above || std::isfinite(*when.above), what + ": 'above' must be finite");
  require_sense(!when.below || std::isfinite(*when.below), what + ": 'below' must be finite");
  const bool compares = when.above || when.below;
  switch (when.source) {
    case Source::kFlag:
      require_sense(!compares && when.element.empty(),
                    what + ": a flag takes no 'element', 'above' or 'below'");
      break;
    case Source::kSensor:
      require_sense(compares, what + ": a sensor needs 'above' or 'below'");
      break;
    case Source::kPort:
      require_sense(!rule.from.empty(),
                    what + ": a port needs 'from', the policy whose output it is");
      break;
  }
}

void check_switch(const Supervision& supervision, std::size_t index) {
  const SwitchRule& rule = supervision.switches[index];
  const std::string what = "switch " + std::to_string(index + 1);
  require_sense(rule.from.empty() || has_policy(supervision, rule.from),
                what + ": there is no policy " + quote_for_message(rule.from));
  require_sense(rule.to == kEmergencyStopName || has_policy(supervision, rule.to),
                what + ": there is no policy " + quote_for_message(rule.to));
  require_sense(rule.from != rule.to, what + " switches from a policy to itself");
  check_condition(rule, what);
}

void check_fallback(const Supervision& supervision, std::size_t index) {
  const auto& [actuator, fallback] = supervision.fallback[index];
  const std::string what = "fallback of " + quote_for_message(actuator);
  for (std::size_t i = 0; i < index; ++i) {
    require_sense(supervision.fallback[i].first != actuator, what + " appears twice");
  }
  if (const auto* const numbers = std::get_if<std::vector<double>>(&fallback)) {
    require_sense(!numbers->empty(), what + " has no numbers");
    require_sense(std::all_of(numbers->begin(), numbers->end(),
                              [](double number) { return std::isfinite(number); }),
                  what + ": its numbers must be finite");
  }
}

}  // namespace

void check(const Supervision& supervision) {
  require_sense(!supervision.policies.empty(), "a supervisor needs at least one policy");
  for (std::size_t i = 0; i < supervision.policies.size(); ++i) check_policy(supervision, i);
  for (std::size_t i = 0; i < supervision.switches.size(); ++i) check_switch(supervision, i);
  for (std::size_t i = 0; i < supervision.fallback.size(); ++i) check_fallback(supervision, i);
  require_sense(supervision.blend_in >= 0 && supervision.blend_in <= 1e9,
                "blend_in must be a number of seconds from 0 to 1e9");
}

Supervision parse_supervision(std::string_view yaml, const std::string& name) {
  Supervision supervision = SupervisionReader(name).read(parse_yaml(yaml, name));
  try {
    check(supervision);
  } catch (const Error& error) {
    throw error.behind(name + ": ");
  }
  return supervision;
}

bool is_supervision(const std::filesystem::path& yaml) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;  // the name of a bundle may be long
  return parse_yaml(read_file(yaml, kMostBytes), yaml.string()).find("policies") != nullptr;
}

Supervision read_supervision(const std::filesystem::path& yaml) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
  Supervision supervision = parse_supervision(read_file(yaml, kMostBytes), yaml.string());
  for (SupervisedPolicy& policy : supervision.policies) {
    policy.bundle = yaml.parent_path() / policy.bundle;
  }
  return supervision;
}

}  // namespace leapp
