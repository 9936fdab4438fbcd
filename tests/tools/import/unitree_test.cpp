#include <gmock/gmock.h>

#include "import/formats.h"
#include "policies.h"

namespace leapp::importing {
namespace {

using leapp::testing::error_of;
using leapp::testing::policy_of;
using ::testing::ElementsAre;
using ::testing::StartsWith;

// Joint 0 of the policy is motor 1, joint 1 is motor 0.
constexpr const char* kDeploy = R"(
joint_ids_map: [1, 0]
step_dt: 0.02
stiffness: [100, 200]
damping: [1, 2]
default_joint_pos: [0.1, 0.2]
commands: {base_velocity: {ranges: {lin_vel_x: [-1, 1], heading: null}}}
actions:
  JointPositionAction: {scale: 0.25, offset: [0.1, 0.2], clip: [[-1, 1], [-2, 2]], joint_ids: null}
observations:
  joint_pos_rel: {scale: 1.0, history_length: 2}
  velocity_commands: {scale: [2, 2, 0.25], clip: [-1, 1], history_length: 2}
)";

class UnitreeTest : public ::testing::Test {
 protected:
  Deployment read(std::int64_t observation = 10, std::int64_t action = 2) {
    const YamlNode root = parse_yaml(text_, "deploy.yaml");
    return read_unitree(root, Fields("deploy.yaml", {}, settings_), policy_of(observation, action));
  }
  std::string fault() {
    return error_of([&] { read(); });
  }
  void replace(const std::string& from, const std::string& to) {
    const std::size_t at = text_.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text_.replace(at, from.size(), to);
  }

  std::string text_ = kDeploy;
  Settings settings_ = {{"joint_names", "left,right"}};
};

TEST_F(UnitreeTest, IsKnownByItsMap) {
  EXPECT_TRUE(is_unitree(parse_yaml(kDeploy, "deploy.yaml")));
  EXPECT_FALSE(is_unitree(parse_yaml("step_dt: 1\n", "deploy.yaml")));
  EXPECT_FALSE(is_unitree(parse_yaml("[1]\n", "deploy.yaml")));
}

TEST_F(UnitreeTest, GainsAreByMotorAndAllElseByThePolicysJoint) {
  const Deployment read = this->read();
  EXPECT_THAT(read.joints, ElementsAre("left", "right"));
  EXPECT_THAT(read.stiffness, ElementsAre(100, 200));
  EXPECT_THAT(read.default_position, ElementsAre(0.2, 0.1));
  EXPECT_EQ(read.drives[0].joint, 1);
  EXPECT_EQ(read.drives[0].offset, 0.1);
  EXPECT_EQ(read.drives[1].upper, 2);
  EXPECT_EQ(read.frequency, 50);
  EXPECT_THAT(read.terms[0].joints, ElementsAre(1, 0));
}

TEST_F(UnitreeTest, TermsHaveScalesRangesAndHistories) {
  const Deployment read = this->read();
  EXPECT_THAT(read.terms[1].scale, ElementsAre(2, 2, 0.25));
  EXPECT_EQ(read.terms[1].lower, -1);
  EXPECT_THAT(read.terms[1].ages, ElementsAre(1, 0));
  EXPECT_FALSE(read.time_major);
  ASSERT_EQ(read.command_ranges.size(), 1U);
  EXPECT_EQ(read.command_ranges[0].element, "lin_vel_x");
}

TEST_F(UnitreeTest, OneGroupOfTermsIsReadAndTwoAreRefused) {
  replace("  joint_pos_rel:", "  policy: {joint_pos_rel: {scale: 1.0}}\n  #");
  replace("  velocity_commands:", "  #");
  EXPECT_EQ(read(2).terms.size(), 1U);
  replace("  policy:", "  critic: {joint_vel_rel: {scale: 1.0}}\n  policy:");
  EXPECT_THAT(fault(), StartsWith("LP823"));
}

TEST_F(UnitreeTest, AGaitHasAPeriodInTicks) {
  replace("  joint_pos_rel: {scale: 1.0, history_length: 2}",
          "  gait_phase: {params: {period: 0.8}, history_length: 2}");
  const Deployment read = this->read();
  EXPECT_EQ(read.terms[0].source, Source::kPhase);
  EXPECT_DOUBLE_EQ(read.terms[0].period, 40);
}

TEST_F(UnitreeTest, WhatCannotBeIsRefused) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"joint_ids_map: [1, 0]", "joint_ids_map: [1, 1]"}, {"step_dt: 0.02", "step_dt: 0"},
      {"stiffness: [100, 200]", "stiffness: [100]"},      {"JointPositionAction", "TorqueAction"},
      {"clip: [[-1, 1], [-2, 2]]", "clip: [[-1, 1]]"},    {"clip: [-1, 1]", "clip: [1, -1]"},
      {"joint_ids: null", "joint_ids: [0, 7]"},           {"joint_ids: null", "joint_ids: [0, 0]"}};
  for (const auto& [from, to] : bad) {
    text_ = kDeploy;
    replace(from, to);
    EXPECT_THAT(fault(), StartsWith("LP823")) << to;
  }
  text_ = kDeploy;
  EXPECT_THAT(error_of([&] { read(10, 3); }), StartsWith("LP824"));
}

}  // namespace
}  // namespace leapp::importing
