#include "controller/supervisor_plan.h"

#include <numbers>

#include "supervisor_bench.h"

namespace leapp {
namespace {

using testing::above;
using testing::flag;
using ::testing::HasSubstr;
using testing::message_of;
using testing::named_port;
using testing::SupervisorBench;

/// Checks a description as `leapp bind` does.
void check_all(SupervisorBench& bench) {
  bench.write();
  std::vector<Bundle> bundles;
  for (const testing::PolicyBench& policy : bench.policies) bundles.push_back(policy.bundle());
  check(bench.supervision, bench.robot, bundles);
}

std::string problem_of(SupervisorBench& bench, Code code) {
  try {
    check_all(bench);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "";
}

TEST(SupervisorPlan, PoliciesThatFitAreAccepted) {
  SupervisorBench bench;
  bench.add_switch("stand", "walk", above("tilt", 1, "y"));
  bench.add_switch("", "emergency_stop", flag("button"));
  bench.supervision.fallback = {{"m", Damp{}}};
  EXPECT_NO_THROW(check_all(bench));
}

TEST(SupervisorPlan, EveryPolicyDrivesTheSameElements) {
  SupervisorBench bench;
  bench.robot.actuators.push_back({.name = "kp", .kind = "kp", .elements = {"hip"}});
  bench.policies[1].outputs.push_back(named_port("gain", "kp", {"hip"}));
  EXPECT_THAT(problem_of(bench, Code::kNotBound),
              HasSubstr("policy 'stand' does not drive 'hip' of actuator 'kp', and policy 'walk'"));
  std::swap(bench.policies[0].outputs, bench.policies[1].outputs);
  EXPECT_THAT(problem_of(bench, Code::kNotBound), HasSubstr("policy 'walk' does not drive"));
}

TEST(SupervisorPlan, ConditionsNameWhatIsThere) {
  const auto problem = [](const SwitchCondition& when) {
    SupervisorBench bench;
    Port done{"done", DType::kBool, {1, 2}, {}};
    Port score{"score", DType::kFloat32, {1, 2}, {}};
    Port mask{"mask", DType::kUInt8, {1}, {}};
    score.semantics.element_names = ElementNames{std::vector<std::string>{"a", "b"}};
    for (const Port& port : {done, score, mask}) bench.policies[0].outputs.push_back(port);
    bench.add_switch("stand", "walk", when);
    return problem_of(bench, Code::kSupervision);
  };
  EXPECT_EQ(problem({SwitchCondition::Source::kPort, "pi/done"}), "");
  EXPECT_EQ(problem({SwitchCondition::Source::kPort, "pi/score", "b", 1, {}}), "");
  EXPECT_THAT(problem(above("gyro", 1)), HasSubstr("no sensor 'gyro'; it has: q, tilt"));
  EXPECT_THAT(problem(above("tilt", 1, "z")), HasSubstr("no element 'z'; it has: x, y"));
  EXPECT_THAT(problem({SwitchCondition::Source::kPort, "pi/fine"}),
              HasSubstr("no output 'pi/fine'"));
  EXPECT_THAT(problem({SwitchCondition::Source::kPort, "pi/done", {}, 1, {}}),
              HasSubstr("of type bool"));
  EXPECT_THAT(problem({SwitchCondition::Source::kPort, "pi/score"}), HasSubstr("of type float32"));
  EXPECT_THAT(problem({SwitchCondition::Source::kPort, "pi/mask", {}, 1, {}}),
              HasSubstr("of type uint8"));
  EXPECT_THAT(problem({SwitchCondition::Source::kPort, "pi/score", "c", 1, {}}),
              HasSubstr("no element 'c'"));
  EXPECT_THAT(problem({SwitchCondition::Source::kPort, "pi/done", "a"}),
              HasSubstr("have no names"));
}

TEST(SupervisorPlan, FallbacksNameWhatIsThere) {
  const auto problem = [](const std::string& actuator, const Fallback& fallback,
                          Code code = Code::kSupervision) {
    SupervisorBench bench;
    bench.robot.actuators.push_back({.name = "lamp", .kind = "light", .elements = {"red"}});
    bench.supervision.fallback = {{actuator, fallback}};
    return problem_of(bench, code);
  };
  EXPECT_EQ(problem("m", Hold{}), "");
  EXPECT_THAT(problem("n", Hold{}), HasSubstr("the robot has no such actuator"));
  EXPECT_THAT(problem("lamp", Hold{}), HasSubstr("no policy drives it"));
  EXPECT_THAT(problem("m", std::vector{1.0, 2.0}), HasSubstr("has 2 numbers"));
}

TEST(SupervisorPlan, AnOutputOfTwoActuatorsHasNoFallbackInCommon) {
  SupervisorBench bench;
  bench.robot.joints = {"hip", "knee"};
  bench.robot.sensors[0].elements = {"hip", "knee"};
  bench.robot.actuators.push_back(
      {.name = "n", .kind = "target/joint/position", .elements = {"knee"}});
  for (testing::PolicyBench& policy : bench.policies) {
    policy.outputs = {named_port("action", "target/joint/position", {"hip", "knee"})};
  }
  bench.supervision.fallback = {{"n", Hold{}}};
  EXPECT_THAT(problem_of(bench, Code::kSupervision), HasSubstr("also drives another actuator"));
}

TEST(SupervisorPlan, DampNeedsAMeaningAndAMeasuredPose) {
  SupervisorBench bench;
  bench.robot.actuators[0].kind = "target/body/height";
  for (testing::PolicyBench& policy : bench.policies) {
    policy.outputs[0].semantics.kind = "target/body/height";
  }
  bench.supervision.fallback = {{"m", Damp{}}};
  EXPECT_THAT(problem_of(bench, Code::kNotBound), HasSubstr("damp, which is not defined for"));
}

TEST(SupervisorPlan, NumbersAreInTheUnitOfTheActuator) {
  SupervisorBench bench;
  bench.robot.actuators[0].unit = "deg";
  add_contract(bench.policies[0].outputs[0].semantics, {.unit = "rad"});
  bench.supervision.fallback = {{"m", std::vector{180.0}}};
  const Bundle bundle = bench.policies[0].bundle();
  const RobotBinding binding = bind(bundle, bench.robot);
  const std::vector<PolicyOnRobot> policies(2, {bundle, binding});
  const SupervisorPlan plan = make_supervisor_plan(bench.supervision, bench.robot, policies, {});
  EXPECT_DOUBLE_EQ(std::get<std::vector<double>>(*plan.policies[0].outputs[0].when_stopped)[0],
                   std::numbers::pi);
}

TEST(SupervisorPlan, APolicyHasItsOwnOptions) {
  using namespace std::chrono_literals;
  Supervision supervision;
  supervision.blend_in = 0.5;
  ControllerOptions common;
  common.frequency = 10;
  const ControllerOptions first = options_of({.name = "a", .bundle = {}}, supervision, common);
  EXPECT_EQ(first.frequency, 10);
  EXPECT_EQ(first.interpolation, Interpolation::kHold);
  EXPECT_EQ(first.blend_in, 500ms);
  const ControllerOptions second =
      options_of({.name = "b", .bundle = {}, .frequency = 50, .linear = true, .blend_in = 0},
                 supervision, common);
  EXPECT_EQ(second.frequency, 50);
  EXPECT_EQ(second.interpolation, Interpolation::kLinear);
  EXPECT_EQ(second.blend_in, 0ms);
}

}  // namespace
}  // namespace leapp
