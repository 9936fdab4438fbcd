#include "import/act.h"

#include <gmock/gmock.h>

#include "import/meaning.h"
#include "run_part.h"

namespace leapp::importing {
namespace {

using leapp::testing::onnx_17;
using leapp::testing::run_part;
using leapp::testing::Values;
using ::testing::ElementsAre;

// The policy drives knee, then hip; the robot's order is hip, knee.
Deployment walker() {
  Deployment deployment;
  deployment.joints = {"hip", "knee"};
  deployment.stiffness = {10, 20};
  deployment.damping = {1, 2};
  deployment.drives = {{.joint = 1, .scale = 2, .offset = 0.5}, {.joint = 0, .scale = 3}};
  return deployment;
}

Values act(const Deployment& deployment, const std::vector<float>& action) {
  return run_part(make_act(deployment, plain_port("action", {1, 2}), onnx_17()),
                  {{"action", action}});
}

TEST(ActTest, TargetsAndGainsAreInTheRobotsOrder) {
  const Values out = act(walker(), {1, 10});
  EXPECT_THAT(out.at("joint_pos_target"), ElementsAre(30, 2.5F));
  EXPECT_THAT(out.at("kp"), ElementsAre(10, 20));
  EXPECT_THAT(out.at("kd"), ElementsAre(1, 2));
  EXPECT_FALSE(out.contains("joint_vel_target"));
  const Part part = make_act(walker(), plain_port("action", {1, 2}), onnx_17());
  const ElementNames& names = *part.node.find_output("joint_pos_target")->semantics.element_names;
  EXPECT_THAT(std::get<std::vector<std::string>>(names[0]), ElementsAre("hip", "knee"));
}

TEST(ActTest, WithoutGainsThereAreNone) {
  Deployment deployment = walker();
  deployment.stiffness.clear();
  deployment.damping.clear();
  const Values out = act(deployment, {1, 1});
  EXPECT_FALSE(out.contains("kp"));
  EXPECT_FALSE(out.contains("kd"));
}

TEST(ActTest, SomeJointsAreDrivenByVelocity) {
  Deployment deployment = walker();
  deployment.drives[0].velocity = true;
  const Values out = act(deployment, {1, 10});
  EXPECT_THAT(out.at("joint_pos_target"), ElementsAre(30));
  EXPECT_THAT(out.at("joint_vel_target"), ElementsAre(2.5F));
}

TEST(ActTest, TheActionIsClippedBeforeTheTargetIs) {
  Deployment deployment = walker();
  EXPECT_FALSE(clips_action(deployment));
  deployment.drives[1].action_upper = 4;
  deployment.drives[0].action_lower = -1;
  deployment.drives[1].lower = -6;
  deployment.drives[1].upper = 6;
  EXPECT_TRUE(clips_action(deployment));
  const Values out = act(deployment, {-9, 10});
  EXPECT_THAT(out.at("clipped_action"), ElementsAre(-1, 4));
  EXPECT_THAT(out.at("joint_pos_target"), ElementsAre(6, -1.5F));
}

}  // namespace
}  // namespace leapp::importing
