#include "import/meaning.h"

#include <gmock/gmock.h>

namespace leapp::importing {
namespace {

using ::testing::ElementsAre;

const std::vector<std::string>& names_of(const Port& port) {
  return std::get<std::vector<std::string>>(port.semantics.element_names->back());
}

TEST(MeaningTest, TermsOfAllProjectsAreKnownByName) {
  EXPECT_EQ(find_term("joint_pos_rel", 12, 10).source, Source::kJointPosition);
  EXPECT_EQ(find_term("joint_pos_rel", 12, 10).size, 12);
  EXPECT_EQ(find_term("dof_vel", 12, 10).source, Source::kJointVelocity);
  EXPECT_EQ(find_term("last_action", 12, 10).size, 10);
  EXPECT_EQ(find_term("motion_anchor_pos_b", 12, 10).size, 3);
  EXPECT_EQ(find_term("motion_anchor_ori_b", 12, 10).size, 6);
  EXPECT_EQ(find_term("base_ang_vel", 12, 10).size, 3);
  EXPECT_EQ(find_term("height_scan", 12, 10).source, Source::kGiven);
  EXPECT_EQ(find_term("height_scan", 12, 10).size, 0);
}

TEST(MeaningTest, APortOfATermSaysWhatItIs) {
  const Port gyro = given_port({.name = "base_ang_vel", .size = 3});
  EXPECT_EQ(gyro.semantics.kind, "state/body/angular_velocity");
  EXPECT_THAT(names_of(gyro), ElementsAre("x", "y", "z"));
  EXPECT_EQ(contract_of(gyro).unit, "rad/s");
  EXPECT_EQ(contract_of(gyro).frame, "base");
  const Port command = given_port({.name = "command", .size = 3});
  EXPECT_THAT(names_of(command), ElementsAre("lin_vel_x", "lin_vel_y", "ang_vel_z"));
  EXPECT_THAT(names_of(given_port({.name = "command_ang_vel", .size = 1})),
              ElementsAre("ang_vel_z"));
}

TEST(MeaningTest, ATermOfAnotherSizeOrNameMeansNothing) {
  for (const Term& term :
       {Term{.name = "base_ang_vel", .size = 2}, Term{.name = "phase", .size = 6},
        Term{.name = "height_scan", .size = 187}}) {
    const Port port = given_port(term);
    EXPECT_EQ(port.semantics.kind, std::nullopt) << term.name;
    EXPECT_EQ(port.shape, Shape({1, term.size}));
  }
}

TEST(MeaningTest, AQuaternionSaysItsOrder) {
  const Port port = quaternion_port("anchor_quat", "world");
  EXPECT_THAT(names_of(port), ElementsAre("qw", "qx", "qy", "qz"));
  EXPECT_EQ(contract_of(port).quaternion, QuaternionOrder::kWxyz);
}

}  // namespace
}  // namespace leapp::importing
