#include "leapp/robot_binding.h"

#include <numbers>

#include "bundle/noise_port.h"
#include "support.h"

namespace leapp {
namespace {

using testing::add_legs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using testing::named_port;
using testing::PolicyBench;

std::vector<std::size_t> order_of(const PortBinding& port) {
  std::vector<std::size_t> order;
  for (const BoundElement& source : port.sources) order.push_back(source.element);
  return order;
}

TEST(RobotBinding, MatchesByKindAndName) {
  PolicyBench bench;
  add_legs(bench);
  const RobotBinding binding = bind(bench.bundle(), bench.robot);
  EXPECT_THAT(binding.problems, IsEmpty());
  EXPECT_THAT(order_of(binding.inputs[0]), ElementsAre(1, 0));
  EXPECT_THAT(order_of(binding.outputs[0]), ElementsAre(1, 0));
}

TEST(RobotBinding, EveryDialectOfNamesIsTheSame) {
  PolicyBench bench;
  add_legs(bench);
  const std::vector<std::string> names = {"hip", "knee"};
  for (const ElementNames& form : {ElementNames{names}, ElementNames{{}, names},
                                   ElementNames{std::vector<std::string>{"r"}, names}}) {
    bench.inputs[0].semantics.element_names = form;
    EXPECT_THAT(order_of(bind(bench.bundle(), bench.robot).inputs[0]), ElementsAre(1, 0));
  }
}

TEST(RobotBinding, NoisePortsAreLeftToTheManager) {
  PolicyBench bench;
  add_legs(bench);
  Port noise = named_port("noise", "noise", {"a", "b"});
  make_noise(noise, NoiseDistribution::kNormal);
  bench.inputs.push_back(noise);
  const RobotBinding binding = bind(bench.bundle(), bench.robot);
  EXPECT_THAT(binding.problems, IsEmpty());
  EXPECT_EQ(binding.inputs.size(), 1U);
}

TEST(RobotBinding, TakesElementsFromSeveralSignals) {
  PolicyBench bench;
  add_legs(bench);
  bench.robot.sensors = {
      {.name = "left", .kind = "state/joint/position", .elements = {"knee"}},
      {.name = "right", .kind = "state/joint/position", .elements = {"x", "hip"}}};
  const RobotBinding binding = bind(bench.bundle(), bench.robot);
  EXPECT_THAT(binding.problems, IsEmpty());
  EXPECT_THAT(binding.inputs[0].sources, ElementsAre(BoundElement{1, 1, 1}, BoundElement{0, 0, 1}));
}

TEST(RobotBinding, ConvertsUnitsWhereBothSayThem) {
  PolicyBench bench;
  add_legs(bench);
  add_contract(bench.inputs[0].semantics, {.unit = "rad"});
  EXPECT_THAT(bind(bench.bundle(), bench.robot).inputs[0].remarks,
              ElementsAre("only pi/q has a unit: nothing is converted"));
  bench.robot.sensors[0].unit = "deg";
  EXPECT_DOUBLE_EQ(bind(bench.bundle(), bench.robot).inputs[0].sources[0].factor,
                   std::numbers::pi / 180);
  bench.robot.sensors[0].unit = "Nm";
  EXPECT_THAT(
      bind(bench.bundle(), bench.robot).problems,
      ElementsAre(
          "pi/q (state/joint/position): its unit 'rad' cannot be converted from 'Nm' of q"));
}

TEST(RobotBinding, QuaternionsAreMatchedByTheirParts) {
  PolicyBench bench;
  add_legs(bench);
  Port attitude{"attitude", DType::kFloat32, {1, 4}, {}};
  attitude.semantics.kind = "state/body/rotation";
  add_contract(attitude.semantics, {.quaternion = QuaternionOrder::kWxyz});
  bench.inputs.push_back(attitude);
  bench.robot.sensors.push_back({.name = "imu",
                                 .kind = "state/body/rotation",
                                 .elements = {"qx", "qy", "qz", "qw"},
                                 .quaternion = QuaternionOrder::kXyzw});
  EXPECT_THAT(order_of(bind(bench.bundle(), bench.robot).inputs[1]), ElementsAre(3, 0, 1, 2));
  bench.inputs[1].semantics.element_names =
      ElementNames{std::vector<std::string>{"x", "y", "z", "w"}};
  EXPECT_THAT(
      bind(bench.bundle(), bench.robot).problems,
      ElementsAre(HasSubstr("its element_names and its quaternion order contradict each other")));
  bench.inputs[1].semantics.extra.clear();  // the names alone determine it
  EXPECT_THAT(order_of(bind(bench.bundle(), bench.robot).inputs[1]), ElementsAre(0, 1, 2, 3));
}

TEST(RobotBinding, FramesDecideBetweenSignalsOfAKind) {
  PolicyBench bench;
  add_legs(bench);
  bench.inputs.push_back(
      named_port("gyro", "state/body/angular_velocity", {"x", "y"}, {.frame = "torso"}));
  const Signal gyro{.name = "base_gyro",
                    .kind = "state/body/angular_velocity",
                    .elements = {"x", "y"},
                    .frame = "base"};
  bench.robot.sensors.push_back(gyro);
  EXPECT_THAT(bind(bench.bundle(), bench.robot).problems,
              ElementsAre(HasSubstr("no sensor of its kind in the frame 'torso', only in base")));
  bench.robot.sensors.push_back(gyro);
  bench.robot.sensors.back().name = "torso_gyro";
  bench.robot.sensors.back().frame = "torso";
  EXPECT_EQ(bind(bench.bundle(), bench.robot).inputs[1].sources[0].signal, 2U);
}

TEST(RobotBinding, WhatIsAmbiguousIsSaidOrChosen) {
  PolicyBench bench;
  add_legs(bench);
  bench.robot.sensors.push_back(bench.robot.sensors[0]);
  bench.robot.sensors[1].name = "q2";
  EXPECT_THAT(bind(bench.bundle(), bench.robot).problems,
              ElementsAre(HasSubstr("'hip' is in both q and q2; say which with 'ports'")));
  bench.robot.sensors[1].ports = {"pi/q"};
  EXPECT_EQ(bind(bench.bundle(), bench.robot).inputs[0].sources[0].signal, 1U);
}

TEST(RobotBinding, WithoutNamesNothingIsGuessed) {
  PolicyBench bench;
  add_legs(bench);
  bench.inputs[0].semantics.element_names.reset();
  EXPECT_THAT(bind(bench.bundle(), bench.robot).problems,
              ElementsAre(HasSubstr("it has no element_names, so the order")));
  bench.robot.sensors[0].ports = {"pi/q"};
  const RobotBinding binding = bind(bench.bundle(), bench.robot);
  EXPECT_THAT(order_of(binding.inputs[0]), ElementsAre(0, 1));
  EXPECT_THAT(binding.inputs[0].remarks, ElementsAre(HasSubstr("in their order")));
}

TEST(RobotBinding, OneMessageListsBothSides) {
  PolicyBench bench;
  add_legs(bench);
  bench.contract.required_capabilities = {"set_gains"};
  bench.robot.sensors[0].elements = {"knee", "ankle"};
  bench.inputs.push_back(named_port("cmd", "command/body/velocity", {"x"}));
  bench.outputs.push_back(named_port("again", "target/joint/position", {"hip"}));
  const Bundle bundle = bench.bundle();
  const RobotBinding binding = bind(bundle, bench.robot);
  EXPECT_EQ(message_of([&] { require_bound(binding, bundle, bench.robot); }),
            ": the bundle does not match the robot:\n"
            "- pi/q (state/joint/position): no sensor of its kind has the elements 'hip'\n"
            "- pi/cmd (command/body/velocity): the robot has no sensor of its kind\n"
            "- pi/again (target/joint/position): pi/action also drives 'hip' of target\n"
            "- the bundle requires 'set_gains', which is not among the robot's capabilities\n"
            "inputs of the bundle:\n"
            "  pi/q (state/joint/position): hip, knee\n"
            "  pi/cmd (command/body/velocity): x\n"
            "sensors of the robot:\n"
            "  q (state/joint/position): knee, ankle\n"
            "outputs of the bundle:\n"
            "  pi/action (target/joint/position): hip, knee\n"
            "  pi/again (target/joint/position): hip\n"
            "actuators of the robot:\n"
            "  target (target/joint/position): knee, hip [LP652]");
}

TEST(RobotBinding, ABundleWithoutTheContractIsToldWhatIsMissing) {
  PolicyBench bench;
  add_legs(bench);
  bench.contract = {};
  bench.inputs[0].semantics = {};
  bench.outputs[0].semantics = {};
  const RobotBinding binding = bind(bench.bundle(), bench.robot);
  EXPECT_THAT(binding.problems,
              ElementsAre("pi/q: it has no kind, so no sensor can be matched to it. Set its kind, "
                          "or list the port in 'ports' of a sensor"));
  EXPECT_THAT(binding.outputs[0].remarks, ElementsAre(HasSubstr("no actuator receives it")));
  EXPECT_THAT(binding.remarks,
              ElementsAre("no output drives target: knee, hip", HasSubstr("has no frequency")));
}

TEST(RobotBinding, OnlyTargetsMustReachAMotor) {
  PolicyBench bench;
  add_legs(bench);
  bench.outputs[0].semantics.kind = "kp";
  const RobotBinding gains = bind(bench.bundle(), bench.robot);
  EXPECT_THAT(gains.problems, IsEmpty());
  EXPECT_THAT(gains.outputs[0].remarks,
              ElementsAre("the robot has no actuator of its kind: the policy computes it, but no "
                          "actuator receives it"));
  bench.outputs[0].semantics.kind = "target/joint/effort";
  EXPECT_THAT(bind(bench.bundle(), bench.robot).problems,
              ElementsAre(HasSubstr("the robot has no actuator of its kind")));
}

TEST(RobotBinding, PortsThatNoRowOfNumbersFits) {
  PolicyBench bench;
  add_legs(bench);
  bench.inputs[0].shape = {3, 2};
  EXPECT_THAT(bind(bench.bundle(), bench.robot).problems,
              ElementsAre(HasSubstr(
                  "has 3 entries without names; declare a time dimension as TemporalAxis")));
  bench.inputs[0].shape = {1, 2};
  bench.inputs[0].dtype = DType::kInt64;
  EXPECT_THAT(bind(bench.bundle(), bench.robot).problems, ElementsAre(HasSubstr("it is int64")));
}

TEST(RobotBinding, CapabilitiesThatTheRobotLacks) {
  PolicyBench bench;
  add_legs(bench);
  bench.contract.required_capabilities = {"set_gains", "hold_pose"};
  bench.robot.capabilities = {"set_gains"};
  const RobotBinding binding = bind(bench.bundle(), bench.robot);
  ASSERT_EQ(binding.problems.size(), 1U);
  EXPECT_THAT(binding.problems[0], HasSubstr("'hold_pose'"));
}

// A misspelt limit must not end as a command without a limit.
TEST(RobotBinding, AContractThatIsNotUnderstoodIsRefused) {
  const Metadata number{std::int64_t{5}};
  const Metadata misspelt{Metadata::Map{{"uper", {1.0}}, {"rate", {5.0}}}};
  for (const auto& [key, value] : {std::pair{"limits", misspelt},
                                   {"fallback", misspelt},
                                   {"unit", number},
                                   {"frame", number},
                                   {"limits", number}}) {
    PolicyBench bench;
    add_legs(bench);
    Bundle bundle = bench.bundle();
    bundle.models[0].outputs[0].semantics.extra.push_back({key, value});
    EXPECT_THAT(bind(bundle, bench.robot).problems,
                ElementsAre(AllOf(HasSubstr("pi/action"), HasSubstr(key))));
  }
  PolicyBench bench;
  add_legs(bench);
  Bundle bundle = bench.bundle();
  bundle.models[0].inputs[0].semantics.extra.push_back({"max_age_ms", {std::string("10")}});
  bundle.pipeline.configs.push_back({"command_ranges", {std::string("fast")}});
  EXPECT_THAT(bind(bundle, bench.robot).problems,
              ElementsAre(HasSubstr("max_age_ms"), HasSubstr("command_ranges")));
}

TEST(RobotBinding, KeysThatAControllerDoesNotUseAreRemarks) {
  PolicyBench bench;
  add_legs(bench);
  bench.contract.frequency.reset();
  Bundle bundle = bench.bundle();
  bundle.pipeline.configs.push_back({"frequency", {std::string("fast")}});
  const RobotBinding binding = bind(bundle, bench.robot);
  EXPECT_THAT(binding.problems, IsEmpty());
  EXPECT_EQ(binding.remarks.size(), 2U);  // not a frequency, and no frequency
}

TEST(RobotBinding, ASignalNamesAPortWithoutAKindOrNames) {
  PolicyBench bench;
  add_legs(bench);
  bench.inputs[0].semantics = {};
  bench.robot.sensors[0].ports = {"pi/q"};
  EXPECT_THAT(order_of(bind(bench.bundle(), bench.robot).inputs[0]), ElementsAre(0, 1));
  bench.robot.sensors[0].elements.emplace_back("ankle");
  EXPECT_EQ(bind(bench.bundle(), bench.robot).problems.size(), 1U);
}

TEST(RobotBinding, TheMessageListsBundlesAndRobotsWithNothing) {
  PolicyBench bench;
  add_legs(bench);
  bench.robot.sensors = {};
  bench.robot.actuators = {};
  bench.inputs[0].semantics = {};
  const Bundle bundle = bench.bundle();
  EXPECT_THAT(
      message_of([&] { require_bound(bind(bundle, bench.robot), bundle, bench.robot); }),
      ::testing::AllOf(HasSubstr("nothing"), HasSubstr("no kind"), ::testing::EndsWith("[LP652]")));
}

}  // namespace
}  // namespace leapp
