#include "leapp/supervision.h"

#include <gmock/gmock.h>

#include "leapp/error.h"
#include "supervisor_bench.h"
#include "support.h"

namespace leapp {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::message_of;

constexpr const char* kPolicies =
    "policies:\n  stand: {bundle: a.yaml}\n  walk: {bundle: b.yaml}\n";

std::string problem_of(const std::string& yaml) {
  try {
    parse_supervision(yaml, "s.yaml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kSupervision) << error.what();
    return error.what();
  }
  return "";
}

TEST(Supervision, ReadsEverything) {
  const Supervision read = parse_supervision(R"(
policies:
  stand: {bundle: a.yaml, frequency: 25}
  walk: {bundle: b.yaml, blend_in: 0.3, interpolation: linear}
switches:
  - {from: stand, to: walk, when: {sensor: tilt, element: x, above: 0.1, below: -1}}
  - {from: walk, to: stand, when: {port: policy/done}}
  - {to: emergency_stop, when: {flag: button}}
fallback: {legs: damp, arm: hold, gripper: 0.5, hand: [1, 2]}
blend_in: 0.5
)",
                                             "s.yaml");
  Supervision expected;
  expected.policies = {{.name = "stand", .bundle = "a.yaml", .frequency = 25},
                       {.name = "walk", .bundle = "b.yaml", .linear = true, .blend_in = 0.3}};
  expected.switches = {{"stand", "walk", {SwitchCondition::Source::kSensor, "tilt", "x", 0.1, -1}},
                       {"walk", "stand", {SwitchCondition::Source::kPort, "policy/done"}},
                       {"", "emergency_stop", {SwitchCondition::Source::kFlag, "button"}}};
  expected.fallback = {{"legs", Damp{}},
                       {"arm", Hold{}},
                       {"gripper", std::vector{0.5}},
                       {"hand", std::vector{1.0, 2.0}}};
  expected.blend_in = 0.5;
  EXPECT_EQ(read, expected);
}

TEST(Supervision, BundlesAreFoundBesideTheFile) {
  testing::PolicyBench bench;
  std::ofstream(bench.folder() / "s.yaml") << kPolicies;
  EXPECT_EQ(read_supervision(bench.folder() / "s.yaml").policies[1].bundle,
            bench.folder() / "b.yaml");
  EXPECT_TRUE(is_supervision(bench.folder() / "s.yaml"));
  std::ofstream(bench.folder() / "b.yaml") << "models: {}\n";
  EXPECT_FALSE(is_supervision(bench.folder() / "b.yaml"));
}

/// A YAML text, and a part of its error message.
using Mistake = std::pair<std::string, std::string>;

class SupervisionMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(SupervisionMistakes, AreRefused) {
  EXPECT_THAT(problem_of(GetParam().first), HasSubstr(GetParam().second));
}

std::string with_switch(const std::string& text) {
  return kPolicies + std::string("switches:\n  - ") + text + "\n";
}

INSTANTIATE_TEST_SUITE_P(
    All, SupervisionMistakes,
    ::testing::Values(
        Mistake{"blend_in: 1\n", "s.yaml:1:1: 'policies' is missing"},
        Mistake{"policies: [a]\n", "s.yaml:1:11: expected a mapping"},
        Mistake{"policies: {}\n", "at least one policy"},
        Mistake{"policies: {a: {}}\n", "the policy has no 'bundle'"},
        Mistake{"policies: {a: {bundle: a.yaml, speed: 1}}\n", "there is no 'speed'"},
        Mistake{"policies: {a: {bundle: a.yaml, frequency: 0}}\n", "must be positive"},
        Mistake{"policies: {a: {bundle: a.yaml, frequency: .nan}}\n", "must be positive"},
        Mistake{"policies: {a: {bundle: a.yaml, interpolation: cubic}}\n", "hold or linear"},
        Mistake{"policies: {a: {bundle: a.yaml, blend_in: -1}}\n", "from 0 to 1e9"},
        Mistake{"policies: {a: {bundle: a.yaml, blend_in: .inf}}\n", "from 0 to 1e9"},
        Mistake{"policies: {emergency_stop: {bundle: a.yaml}}\n", "must not be named"},
        Mistake{"policies: {a/b: {bundle: a.yaml}}\n", "a name must not contain '/'"},
        Mistake{kPolicies + std::string("blend_in: soon\n"), "expected a number"},
        Mistake{kPolicies + std::string("switch: []\n"), "there is no 'switch'"},
        Mistake{kPolicies + std::string("switches: {}\n"), "expected a list"},
        Mistake{with_switch("{from: stand, when: {flag: f}}"), "the switch has no 'to'"},
        Mistake{with_switch("{from: stand, to: walk}"), "the switch has no 'when'"},
        Mistake{with_switch("{from: stand, to: run, when: {flag: f}}"), "there is no policy 'run'"},
        Mistake{with_switch("{from: run, to: walk, when: {flag: f}}"), "there is no policy 'run'"},
        Mistake{with_switch("{from: walk, to: walk, when: {flag: f}}"), "to itself"},
        Mistake{with_switch("{to: walk, when: {}}"), "one of 'flag', 'sensor' and 'port'"},
        Mistake{with_switch("{to: walk, when: {flag: f, sensor: s}}"), "one of 'flag', 'sensor'"},
        Mistake{with_switch("{to: walk, when: {flag: f, above: 1}}"), "a flag takes no"},
        Mistake{with_switch("{to: walk, when: {sensor: s}}"), "needs 'above' or 'below'"},
        Mistake{with_switch("{to: walk, when: {sensor: s, above: .nan}}"), "must be finite"},
        Mistake{with_switch("{to: walk, when: {sensor: s, below: -.inf}}"), "must be finite"},
        Mistake{with_switch("{to: walk, when: {port: a/b}}"), "a port needs 'from'"},
        Mistake{kPolicies + std::string("fallback: {m: loose}\n"), "hold, damp or numbers"},
        Mistake{kPolicies + std::string("fallback: {m: []}\n"), "has no numbers"},
        Mistake{kPolicies + std::string("fallback: {m: [.nan]}\n"), "must be finite"},
        Mistake{kPolicies + std::string("fallback: [m]\n"), "expected a mapping"}));

TEST(Supervision, DescriptionsMadeInAProgramAreCheckedToo) {
  Supervision supervision;
  supervision.policies = {{.name = "a", .bundle = "a.yaml"}, {.name = "a", .bundle = "b.yaml"}};
  EXPECT_THAT(message_of([&] { check(supervision); }),
              AllOf(HasSubstr("'a'"), EndsWith("[LP656]")));
  supervision.policies.pop_back();
  supervision.fallback = {{"m", Hold{}}, {"m", Damp{}}};
  EXPECT_THAT(message_of([&] { check(supervision); }),
              AllOf(HasSubstr("'m'"), EndsWith("[LP656]")));
}

}  // namespace
}  // namespace leapp
