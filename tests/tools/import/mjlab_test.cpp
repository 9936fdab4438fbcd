#include <gmock/gmock.h>

#include "import/formats.h"
#include "policies.h"

namespace leapp::importing {
namespace {

using leapp::testing::error_of;
using leapp::testing::policy_of;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::StartsWith;

class MjlabTest : public ::testing::Test {
 protected:
  Deployment read(std::int64_t observation = 2) {
    return read_mjlab(Fields("policy.onnx", metadata_, settings_), policy_of(observation, 2));
  }
  std::string fault(std::int64_t observation = 2) {
    return error_of([&] { read(observation); });
  }
  std::string& key(const std::string& name) {
    for (auto& [known, text] : metadata_) {
      if (known == name) return text;
    }
    return metadata_.emplace_back(name, "").second;
  }

  onnx::Properties metadata_ = {
      {"joint_names", "hip,knee"},        {"joint_stiffness", "20,30"},
      {"joint_damping", "1,2"},           {"default_joint_pos", "0.1,0.2"},
      {"observation_names", "joint_pos"}, {"action_scale", "0.25"}};
  Settings settings_;
};

TEST_F(MjlabTest, TwoKeysSayWhoseItIs) {
  EXPECT_TRUE(is_mjlab(Fields("f", {{"joint_names", "a"}, {"joint_stiffness", "1"}}, {})));
  EXPECT_FALSE(is_mjlab(Fields("f", {{"joint_names", "a"}}, {})));
  EXPECT_FALSE(is_mjlab(Fields("f", {{"joint_stiffness", "1"}}, {})));
}

TEST_F(MjlabTest, ReadsJointsGainsAndDrives) {
  const Deployment read = this->read();
  EXPECT_THAT(read.joints, ElementsAre("hip", "knee"));
  EXPECT_THAT(read.stiffness, ElementsAre(20, 30));
  EXPECT_THAT(read.damping, ElementsAre(1, 2));
  ASSERT_EQ(read.drives.size(), 2U);
  EXPECT_EQ(read.drives[1].scale, 0.25);
  EXPECT_EQ(read.drives[1].offset, 0.2);
  EXPECT_EQ(read.terms[0].source, Source::kJointPosition);
}

TEST_F(MjlabTest, AnActionMayDriveSomeJointsInAnOrderOfItsOwn) {
  key("joint_names") = "hip,knee,neck";
  key("default_joint_pos") = "0.1,0.2,0.3";
  EXPECT_THAT(fault(3), StartsWith("LP822"));  // the file does not name the joints
  key("action_joint_names") = "neck,hip";
  const Deployment read = this->read(3);
  EXPECT_EQ(read.drives[0].joint, 2);
  EXPECT_EQ(read.drives[1].joint, 0);
  // Gains are those of the driven joints, in the order of joint_names.
  EXPECT_THAT(read.stiffness, ElementsAre(20, 0, 30));
  key("action_joint_names") = "neck,tail";
  EXPECT_THAT(fault(3), StartsWith("LP823"));
}

TEST_F(MjlabTest, TermsHaveScalesRangesAndHistories) {
  key("observation_names") = "joint_pos,base_ang_vel";
  key("observation_terms_scale") = "1.0,0.5;0.5;0.25";
  key("observation_terms_clip") = "-inf;inf,-2.0;2.0";
  key("observation_terms_history_length") = "3,3";
  key("observation_terms_flatten_history_dim") = "0,0";
  const Deployment read = this->read(15);
  EXPECT_THAT(read.terms[1].scale, ElementsAre(0.5, 0.5, 0.25));
  EXPECT_EQ(read.terms[1].upper, 2);
  EXPECT_THAT(read.terms[1].ages, ElementsAre(2, 1, 0));
  EXPECT_TRUE(read.time_major);
}

TEST_F(MjlabTest, ATrackingPolicyNamesItsMotion) {
  PolicyModel policy = policy_of(7, 2);
  policy.inputs.push_back(plain_port("time_step", {1, 1}));
  key("observation_names") = "command,motion_anchor_pos_b";
  key("body_names") = "pelvis,torso";
  key("anchor_body_name") = "torso";
  const Deployment read = read_mjlab(Fields("policy.onnx", metadata_, {}), policy);
  ASSERT_TRUE(read.motion.has_value());
  EXPECT_EQ(read.motion->anchor, 1);
  EXPECT_EQ(read.terms[0].source, Source::kReference);
  EXPECT_EQ(read.terms[0].size, 4);
  key("anchor_body_name") = "head";
  EXPECT_THAT(error_of([&] { read_mjlab(Fields("policy.onnx", metadata_, {}), policy); }),
              StartsWith("LP823"));
}

TEST_F(MjlabTest, ValuesThatCannotBeAreRefused) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"default_joint_pos", "0.1"},   {"action_scale", "1,2,3"},  {"action_scale", "0.0"},
      {"joint_stiffness", "1,2,3"},   {"joint_names", "hip,hip"}, {"observation_terms_scale", "0"},
      {"observation_terms_clip", "1"}};
  const onnx::Properties good = metadata_;
  for (const auto& [name, text] : bad) {
    metadata_ = good;
    key(name) = text;
    EXPECT_THAT(fault(), StartsWith("LP823")) << name << " " << text;
  }
}

}  // namespace
}  // namespace leapp::importing
