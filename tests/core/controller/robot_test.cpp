#include "leapp/robot.h"

#include "support.h"

namespace leapp {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::message_of;

constexpr const char* kYaml = R"(rate: 500
joints: [hip, knee]
sensors:
  joint_pos: {kind: state/joint/position, unit: deg}
  attitude: {kind: state/body/rotation, quaternion: xyzw, frame: world}
  gyro: {kind: state/body/angular_velocity, elements: [x, y, z], interfaces: "imu/rate.{}"}
actuators:
  target: {kind: target/joint/position, ports: [pi/action]}
capabilities: [set_gains]
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string refusal(const std::string& from, const std::string& to) {
  return message_of([&] { parse_robot(replaced(kYaml, from, to), "r.yaml"); });
}

TEST(Robot, IsReadWithItsDefaults) {
  const Robot robot = parse_robot(kYaml, "r.yaml");
  EXPECT_EQ(robot.rate, 500);
  EXPECT_THAT(robot.sensors[0].elements, ElementsAre("hip", "knee"));
  EXPECT_EQ(robot.sensors[0].unit, "deg");
  EXPECT_THAT(robot.sensors[1].elements, ElementsAre("qx", "qy", "qz", "qw"));
  EXPECT_EQ(robot.sensors[2].interfaces, "imu/rate.{}");
  EXPECT_THAT(robot.actuators[0].ports, ElementsAre("pi/action"));
  EXPECT_THAT(robot.capabilities, ElementsAre("set_gains"));
}

TEST(Robot, GainsHaveAnElementForEachJoint) {
  const Robot robot = parse_robot(R"(rate: 500
joints: [hip, knee]
sensors:
actuators:
  stiffness: {kind: kp}
  damping: {kind: kd}
  pose: {kind: target/body/rotation, quaternion: wxyz}
)",
                                  "r.yaml");
  EXPECT_TRUE(robot.sensors.empty());
  EXPECT_THAT(robot.actuators[0].elements, ElementsAre("hip", "knee"));
  EXPECT_THAT(robot.actuators[1].elements, ElementsAre("hip", "knee"));
  EXPECT_THAT(robot.actuators[2].elements, ElementsAre("qw", "qx", "qy", "qz"));
}

TEST(Robot, ValuesOfAnotherTypeAreRefused) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"rate: 500", "rate: .inf"},
           {"rate: 500", "rate: [500]"},
           {"kind: state/body/rotation", "kind: ''"},
           {"kind: state/body/rotation", "kind: ~"},
           {"kind: state/body/rotation", "kind: [a]"},
           {"{kind: target/joint/position, ports: [pi/action]}", "5"},
           {"[set_gains]", "{set_gains: 1}"},
           {"[hip, knee]", "hip"}}) {
    EXPECT_THAT(refusal(from, to), AllOf(HasSubstr("r.yaml:"), EndsWith("[LP651]"))) << to;
  }
  EXPECT_THAT(message_of([] { parse_robot("rate: 1\nsensors: [q]\n", "r.yaml"); }),
              AllOf(HasSubstr("r.yaml:2:"), EndsWith("[LP651]")));
}

TEST(Robot, FaultsNameTheirPlace) {
  EXPECT_THAT(refusal("rate: 500", "rate: 0"),
              ::testing::AllOf(::testing::HasSubstr("0"), ::testing::EndsWith("[LP651]")));
  EXPECT_THAT(refusal("rate: 500", "rate: .nan"), HasSubstr("must be positive"));
  EXPECT_THAT(refusal("rate: 500\n", ""), HasSubstr("'rate' is missing"));
  EXPECT_THAT(refusal("[hip, knee]", "[hip, hip]"), HasSubstr("r.yaml:2:15: 'hip' appears twice"));
  EXPECT_THAT(refusal("unit: deg", "units: deg"),
              HasSubstr("there is no 'units'; there are: kind"));
  EXPECT_THAT(refusal("kind: state/body/rotation, ", ""), HasSubstr("the signal has no 'kind'"));
  EXPECT_THAT(refusal("quaternion: xyzw", "elements: [w, x, y, z], quaternion: xyzw"),
              HasSubstr("contradict each other"));
  EXPECT_THAT(refusal("quaternion: xyzw", "elements: [w, x, z, y], quaternion: wxyz"),
              HasSubstr("contradict each other"));
  EXPECT_THAT(refusal("quaternion: xyzw", "quaternion: zyx"), HasSubstr("expected wxyz or xyzw"));
  EXPECT_THAT(refusal("elements: [x, y, z], ", ""), HasSubstr("the signal has no elements"));
  EXPECT_THAT(refusal("imu/rate.{}", "imu/rate"), HasSubstr("expected {} as the placeholder"));
  EXPECT_THAT(refusal("gyro", "attitude"), HasSubstr("attitude"));
  EXPECT_THAT(message_of([] { read_robot("/nowhere/r.yaml"); }), HasSubstr("was not found"));
}

TEST(Robot, MadeInMemoryIsCheckedAlike) {
  Robot robot = parse_robot(kYaml, "r.yaml");
  robot.sensors[0].elements = {"hip", "hip"};
  EXPECT_THAT(message_of([&] { check(robot); }),
              AllOf(HasSubstr("sensor 'joint_pos': 'hip'"), EndsWith("[LP651]")));
  robot.sensors[0].elements = {"hip"};
  robot.rate = -1;
  EXPECT_THAT(message_of([&] { check(robot); }), HasSubstr("must be positive"));
}

}  // namespace
}  // namespace leapp
