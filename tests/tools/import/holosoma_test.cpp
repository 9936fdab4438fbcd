#include <gmock/gmock.h>

#include "import/formats.h"
#include "policies.h"

namespace leapp::importing {
namespace {

using leapp::testing::error_of;
using leapp::testing::policy_of;
using ::testing::ElementsAre;
using ::testing::StartsWith;

class HolosomaTest : public ::testing::Test {
 protected:
  Deployment read(const PolicyModel& policy = policy_of(5, 2)) {
    return read_holosoma(Fields("policy.onnx", metadata_, settings_), policy);
  }
  std::string fault(const PolicyModel& policy = policy_of(5, 2)) {
    return error_of([&] { read(policy); });
  }

  onnx::Properties metadata_ = {{"dof_names", "[\"waist\", \"hip\", \"knee\"]"},
                                {"kp", "[10, 20, 30]"},
                                {"kd", "[1, 2, 3]"},
                                {"default_dof_pos", "[0.1, 0.2, 0.3]"},
                                {"action_scale", "0.25"}};
  Settings settings_ = {{"observation_names", "dof_pos,actions"}};
};

TEST_F(HolosomaTest, ThreeKeysSayWhoseItIs) {
  EXPECT_TRUE(is_holosoma(Fields("f", {{"dof_names", "a"}, {"kp", "1"}, {"kd", "1"}}, {})));
  EXPECT_FALSE(is_holosoma(Fields("f", {{"dof_names", "a"}, {"kp", "1"}}, {})));
}

TEST_F(HolosomaTest, TermsAreSortedAndAShortActionDrivesTheLastJoints) {
  const Deployment read = this->read();
  EXPECT_EQ(read.terms[0].name, "actions");
  EXPECT_EQ(read.terms[0].size, 2);
  EXPECT_EQ(read.terms[1].name, "dof_pos");
  EXPECT_EQ(read.fill, Fill::kZeros);
  ASSERT_EQ(read.drives.size(), 2U);
  EXPECT_EQ(read.drives[0].joint, 1);
  EXPECT_EQ(read.drives[0].offset, 0.2);
  EXPECT_EQ(read.drives[0].action_upper, 100);
  EXPECT_THAT(read.stiffness, ElementsAre(10, 20, 30));
}

TEST_F(HolosomaTest, RangesOfCommandsGetTheNamesOfPorts) {
  metadata_.emplace_back("command_ranges", "{\"ang_vel_yaw\": [-1, 2]}");
  const Deployment read = this->read();
  ASSERT_EQ(read.command_ranges.size(), 1U);
  EXPECT_EQ(read.command_ranges[0].element, "ang_vel_z");
  EXPECT_EQ(read.command_ranges[0].upper, 2);
  metadata_.back().second = "{\"ang_vel_yaw\": [2, -1]}";
  EXPECT_THAT(fault(), StartsWith("LP823"));
  metadata_.back().second = "[1]";
  EXPECT_THAT(fault(), StartsWith("LP823"));
}

TEST_F(HolosomaTest, ScalesAndHistoriesMayBeGiven) {
  settings_.emplace_back("observation_terms_scale", "0.5,2");
  settings_.emplace_back("observation_history_lengths", "2");
  const Deployment read = this->read(policy_of(10, 2));
  EXPECT_THAT(read.terms[1].scale, ElementsAre(0.5));  // dof_pos, the first of them
  EXPECT_THAT(read.terms[1].ages, ElementsAre(1, 0));
}

TEST_F(HolosomaTest, PoliciesThatItCannotDescribeAreRefused) {
  PolicyModel tracking = policy_of(5, 2);
  tracking.inputs.push_back(plain_port("time_step", {1, 1}));
  EXPECT_THAT(fault(tracking), StartsWith("LP824"));
  EXPECT_THAT(fault(policy_of(5, 4)), StartsWith("LP824"));
  metadata_.emplace_back("action_contract", "torque");
  EXPECT_THAT(fault(), StartsWith("LP824"));
}

TEST_F(HolosomaTest, WithoutItsObservationTheKeyIsNamed) {
  settings_.clear();
  EXPECT_THAT(fault(), StartsWith("LP822"));
}

}  // namespace
}  // namespace leapp::importing
