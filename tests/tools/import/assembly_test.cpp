#include "import/assembly.h"

#include <gmock/gmock.h>

#include "policies.h"

namespace leapp::importing {
namespace {

using leapp::testing::error_of;
using leapp::testing::Folder;
using leapp::testing::policy_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class AssemblyTest : public ::testing::Test {
 protected:
  AssemblyTest() {
    deployment_.joints = {"hip", "knee"};
    deployment_.default_position = {0.1, 0.2};
    deployment_.drives = {{.joint = 0}, {.joint = 1}};
    deployment_.terms = {
        {.name = "q", .source = Source::kJointPosition, .size = 2, .joints = {0, 1}},
        {.name = "actions", .source = Source::kLastAction, .size = 2}};
    deployment_.frequency = 50;
  }

  Bundle write(const PolicyModel& policy = policy_of(4, 2)) {
    Draft draft = assemble(deployment_, policy);
    return draft.write(folder_.path() / "walker");
  }

  // Returns the source of each feedback wire, such as "act/clipped_action".
  static std::vector<std::string> sources(const std::vector<Wire>& wires) {
    std::vector<std::string> found;
    for (const Wire& wire : wires) found.push_back(to_string(wire.source));
    return found;
  }

  Folder folder_;
  Deployment deployment_;
};

TEST_F(AssemblyTest, NodesAroundThePolicyAreWired) {
  const Bundle bundle = write();
  EXPECT_THAT(sources(bundle.pipeline.data_flow),
              ElementsAre("observe/observation", "policy/actions"));
  EXPECT_THAT(sources(bundle.pipeline.feedback_flow), ElementsAre("policy/actions"));
  EXPECT_THAT(bundle.pipeline.inputs[0].ports, ElementsAre("joint_pos"));
  EXPECT_THAT(bundle.pipeline.outputs[0].ports, ElementsAre("joint_pos_target"));
}

TEST_F(AssemblyTest, AClippedActionIsFedBackAsItWasClipped) {
  deployment_.drives[0].action_upper = 1;
  EXPECT_THAT(sources(write().pipeline.feedback_flow), ElementsAre("act/clipped_action"));
}

TEST_F(AssemblyTest, WithoutTheLastActionNothingIsFedBack) {
  deployment_.terms.pop_back();
  EXPECT_THAT(write(policy_of(2, 2)).pipeline.feedback_flow, IsEmpty());
}

TEST_F(AssemblyTest, ConfigsHaveThePoseAndRangesOfCommandsThatAreThere) {
  deployment_.command_ranges = {{"lin_vel_x", -1, 1}, {"height", 0, 1}};
  deployment_.terms[1] = {.name = "velocity_commands", .source = Source::kGiven, .size = 3};
  const GraphContract contract = contract_of(write(policy_of(5, 2)).pipeline);
  EXPECT_EQ(contract.frequency, 50);
  ASSERT_EQ(contract.default_pose.size(), 2U);
  EXPECT_EQ(contract.default_pose[1].first, "knee");
  ASSERT_EQ(contract.command_ranges.size(), 1U);
  EXPECT_EQ(contract.command_ranges[0].element, "lin_vel_x");
}

TEST_F(AssemblyTest, APolicyOfAnotherPrecisionIsRefused) {
  PolicyModel policy = policy_of(4, 2);
  policy.outputs[0].dtype = DType::kFloat16;
  EXPECT_THAT(error_of([&] { write(policy); }), StartsWith("LP824"));
}

}  // namespace
}  // namespace leapp::importing
