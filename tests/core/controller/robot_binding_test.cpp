#include "leapp/robot_binding.h"

#include <numbers>

#include "support.h"

namespace leapp {
namespace {

using testing::add_legs;
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
              ElementsAre("only pi/q says its unit: nothing is converted"));
  bench.robot.sensors[0].unit = "deg";
  EXPECT_DOUBLE_EQ(bind(bench.bundle(), bench.robot).inputs[0].sources[0].factor,
                   std::numbers::pi / 180);
  bench.robot.sensors[0].unit = "Nm";
  EXPECT_THAT(
      bind(bench.bundle(), bench.robot).problems,
      ElementsAre("pi/q (state/joint/position): its unit 'rad' cannot be had from 'Nm' of q"));
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
  EXPECT_THAT(bind(bench.bundle(), bench.robot).problems,
              ElementsAre(HasSubstr("its element_names and its quaternion contradict each other")));
  bench.inputs[1].semantics.extra.clear();  // the names alone say it
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
              ElementsAre(HasSubstr("it has no element_names, so that their order is not known")));
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
            ": the bundle and the robot do not fit each other:\n"
            "- pi/q (state/joint/position): no sensor of its kind has its elements 'hip'\n"
            "- pi/cmd (command/body/velocity): the robot has no sensor of its kind\n"
            "- pi/again (target/joint/position): pi/action drives 'hip' of target as well\n"
            "- the bundle requires 'set_gains', which is not among the robot's capabilities\n"
            "the bundle takes:\n"
            "  pi/q (state/joint/position): hip, knee\n"
            "  pi/cmd (command/body/velocity): x\n"
            "the robot measures:\n"
            "  q (state/joint/position): knee, ankle\n"
            "the bundle puts out:\n"
            "  pi/action (target/joint/position): hip, knee\n"
            "  pi/again (target/joint/position): hip\n"
            "the robot can be given:\n"
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
              ElementsAre("pi/q: it has no kind, so that no sensor can be told to be meant"));
  EXPECT_THAT(binding.outputs[0].remarks, ElementsAre(HasSubstr("goes to no actuator")));
  EXPECT_THAT(binding.remarks, ElementsAre("no output drives target: knee, hip",
                                           HasSubstr("does not say its frequency")));
}

TEST(RobotBinding, OnlyTargetsMustReachAMotor) {
  PolicyBench bench;
  add_legs(bench);
  bench.outputs[0].semantics.kind = "kp";
  const RobotBinding gains = bind(bench.bundle(), bench.robot);
  EXPECT_THAT(gains.problems, IsEmpty());
  EXPECT_THAT(gains.outputs[0].remarks,
              ElementsAre("the robot has no actuator of its kind: it is put out, and goes to no "
                          "actuator"));
  bench.outputs[0].semantics.kind = "target/joint/effort";
  EXPECT_THAT(bind(bench.bundle(), bench.robot).problems,
              ElementsAre(HasSubstr("the robot has no actuator of its kind")));
}

TEST(RobotBinding, PortsThatNoRowOfNumbersFits) {
  PolicyBench bench;
  add_legs(bench);
  bench.inputs[0].shape = {3, 2};
  EXPECT_THAT(bind(bench.bundle(), bench.robot).problems,
              ElementsAre(HasSubstr("has 3 entries beside the named ones; a TemporalAxis says")));
  bench.inputs[0].shape = {1, 2};
  bench.inputs[0].dtype = DType::kInt64;
  EXPECT_THAT(bind(bench.bundle(), bench.robot).problems, ElementsAre(HasSubstr("it is int64")));
}

}  // namespace
}  // namespace leapp
