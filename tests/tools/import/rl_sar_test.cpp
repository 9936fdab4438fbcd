#include <gmock/gmock.h>

#include <fstream>

#include "import/formats.h"
#include "policies.h"

namespace leapp::importing {
namespace {

using leapp::testing::error_of;
using leapp::testing::Folder;
using leapp::testing::policy_of;
using ::testing::ElementsAre;
using ::testing::StartsWith;

// Joint 0 of the policy is motor 1, a leg; joint 1 is motor 0, a wheel.
constexpr const char* kConfig = R"(
go2/robot:
  num_of_dofs: 2
  joint_mapping: [1, 0]
  wheel_indices: [1]
  clip_obs: 100
  clip_actions_lower: [-5, -5]
  clip_actions_upper: [5, 5]
  action_scale: [0.25, 5]
  rl_kp: [20, 0]
  rl_kd: [1, 0.5]
  default_dof_pos: [0.1, 0.2]
  observations: [ang_vel_axis, commands, dof_pos]
  observations_history: [1, 0]
  num_observations: 8
  ang_vel_scale: 0.25
  commands_scale: [2, 2, 0.5]
  dof_pos_scale: 1
)";

class RlSarTest : public ::testing::Test {
 protected:
  Deployment read(std::int64_t observation = 16, std::int64_t action = 2) {
    const std::filesystem::path file = folder_.path() / "robot" / "config.yaml";
    return read_rl_sar(parse_yaml(text_, "config.yaml"), file, Fields("config.yaml", {}, {}),
                       policy_of(observation, action));
  }
  void replace(const std::string& from, const std::string& to) {
    const std::size_t at = text_.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text_.replace(at, from.size(), to);
  }

  Folder folder_;
  std::string text_ = kConfig;
};

TEST_F(RlSarTest, IsKnownByItsObservations) {
  EXPECT_TRUE(is_rl_sar(parse_yaml(kConfig, "config.yaml")));
  EXPECT_TRUE(is_rl_sar(parse_yaml("observations: [a]\n", "config.yaml")));
  EXPECT_FALSE(is_rl_sar(parse_yaml("observations: {a: 1}\n", "config.yaml")));
}

TEST_F(RlSarTest, PortsAreInTheOrderOfTheMotors) {
  const Deployment read = this->read();
  EXPECT_THAT(read.joints, ElementsAre("motor_0", "motor_1"));
  EXPECT_THAT(read.stiffness, ElementsAre(0, 20));
  EXPECT_THAT(read.default_position, ElementsAre(0.2, 0.1));
  EXPECT_EQ(read.drives[0].joint, 1);
  EXPECT_EQ(read.drives[0].offset, 0.1);
  EXPECT_EQ(read.drives[0].action_lower, -5);
  EXPECT_FALSE(read.frequency.has_value());
}

TEST_F(RlSarTest, AWheelIsDrivenByVelocityAndItsAngleIsLeftOut) {
  const Deployment read = this->read();
  EXPECT_TRUE(read.drives[1].velocity);
  EXPECT_EQ(read.drives[1].offset, 0);
  EXPECT_THAT(read.terms[2].scale, ElementsAre(1, 0));
}

TEST_F(RlSarTest, TermsAreScaledThenClippedAndStackedFrameByFrame) {
  const Deployment read = this->read();
  EXPECT_EQ(read.terms[0].name, "ang_vel");
  EXPECT_TRUE(read.terms[0].scale_first);
  EXPECT_EQ(read.terms[0].upper, 100);
  EXPECT_THAT(read.terms[0].ages, ElementsAre(1, 0));
  EXPECT_TRUE(read.time_major);
  replace("observations_history:", "observations_history_priority: term\n  observations_history:");
  EXPECT_FALSE(this->read().time_major);
}

TEST_F(RlSarTest, TheRobotsBaseHasWhatTheConfigLacks) {
  std::ofstream(folder_.path() / "base.yaml")
      << "go2:\n  dt: 0.005\n  decimation: 4\n  joint_names: [wheel, leg]\n";
  const Deployment read = this->read();
  EXPECT_THAT(read.joints, ElementsAre("wheel", "leg"));
  EXPECT_EQ(read.frequency, 50);
}

TEST_F(RlSarTest, WhatCannotBeIsRefused) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"num_of_dofs: 2", "num_of_dofs: 1.5"},
      {"joint_mapping: [1, 0]", "joint_mapping: [1, 1]"},
      {"wheel_indices: [1]", "wheel_indices: [2]"},
      {"observations_history: [1, 0]", "observations_history: [1000, 0]"},
      {"observations_history:", "observations_history_priority: x\n  observations_history:"},
      {"observations: [ang_vel_axis, commands, dof_pos]", "observations: [commands, commands]"}};
  for (const auto& [from, to] : bad) {
    text_ = kConfig;
    replace(from, to);
    EXPECT_THAT(error_of([&] { read(); }), StartsWith("LP823")) << to;
  }
  text_ = kConfig;
  replace("num_observations: 8", "num_observations: 9");
  EXPECT_THAT(error_of([&] { read(); }), StartsWith("LP824"));
  text_ = kConfig;
  EXPECT_THAT(error_of([&] { read(16, 3); }), StartsWith("LP824"));
}

}  // namespace
}  // namespace leapp::importing
