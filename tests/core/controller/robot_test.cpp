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
