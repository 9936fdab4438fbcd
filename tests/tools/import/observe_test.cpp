#include "import/observe.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "import/meaning.h"
#include "run_part.h"

namespace leapp::importing {
namespace {

using leapp::testing::onnx_17;
using leapp::testing::run_part;
using leapp::testing::Values;
using ::testing::ElementsAre;
using ::testing::FloatNear;

// The robot's order is hip, knee.
class ObserveTest : public ::testing::Test {
 protected:
  ObserveTest() {
    deployment_.joints = {"hip", "knee"};
    deployment_.default_position = {0.5, -1};
  }

  void make(std::int64_t size) {
    node_ = make_observe(deployment_, plain_port("obs", {1, size}), plain_port("actions", {1, 2}),
                         onnx_17());
    state_.clear();
    for (const StatePort& port : node_.states) {
      const auto values = port.initial.values<float>();
      state_[port.input] = {values.begin(), values.end()};
    }
  }

  // Runs one tick, with the state of the previous one.
  std::vector<float> tick(Values inputs) {
    inputs.insert(state_.begin(), state_.end());
    Values outputs = run_part(node_.part, inputs);
    for (const StatePort& port : node_.states) state_[port.input] = outputs.at(port.output);
    return outputs.at(kObservation);
  }

  Deployment deployment_;
  ObserveNode node_;
  Values state_;
};

TEST_F(ObserveTest, JointsAreInThePolicysOrderAndPositionsRelative) {
  deployment_.terms = {{.name = "q", .source = Source::kJointPosition, .size = 2, .joints = {1, 0}},
                       {.name = "dq", .source = Source::kJointVelocity, .size = 1, .joints = {1}},
                       {.name = "actions", .source = Source::kLastAction, .size = 2}};
  make(5);
  EXPECT_THAT(tick({{"joint_pos", {1, 2}}, {"joint_vel", {7, 8}}, {kLastAction, {5, 6}}}),
              ElementsAre(3, 0.5F, 8, 5, 6));
}

TEST_F(ObserveTest, ATermIsClippedThenScaledUnlessItIsTheOtherWayRound) {
  Term term{.name = "base_ang_vel", .source = Source::kGiven, .size = 3, .scale = {2, 2, 10}};
  term.lower = -1;
  term.upper = 1;
  deployment_.terms = {term};
  make(3);
  EXPECT_THAT(tick({{"base_ang_vel", {0.25F, -9, 9}}}), ElementsAre(0.5F, -2, 10));
  deployment_.terms[0].scale_first = true;
  make(3);
  EXPECT_THAT(tick({{"base_ang_vel", {0.25F, -9, 9}}}), ElementsAre(0.5F, -1, 1));
}

TEST_F(ObserveTest, AHistoryBeginsWithTheFirstFrameOrWithZeros) {
  deployment_.terms = {{.name = "command", .source = Source::kGiven, .size = 1, .ages = {2, 0}}};
  make(2);
  EXPECT_THAT(tick({{"command", {1}}}), ElementsAre(1, 1));
  EXPECT_THAT(tick({{"command", {2}}}), ElementsAre(1, 2));
  EXPECT_THAT(tick({{"command", {3}}}), ElementsAre(1, 3));
  EXPECT_THAT(tick({{"command", {4}}}), ElementsAre(2, 4));
  deployment_.fill = Fill::kZeros;
  make(2);
  EXPECT_THAT(tick({{"command", {1}}}), ElementsAre(0, 1));
}

TEST_F(ObserveTest, FramesAreStackedTermByTermOrWhole) {
  deployment_.terms = {{.name = "a", .source = Source::kGiven, .size = 1, .ages = {1, 0}},
                       {.name = "b", .source = Source::kGiven, .size = 1, .ages = {1, 0}}};
  make(4);
  tick({{"a", {1}}, {"b", {10}}});
  EXPECT_THAT(tick({{"a", {2}}, {"b", {20}}}), ElementsAre(1, 2, 10, 20));
  deployment_.time_major = true;
  make(4);
  tick({{"a", {1}}, {"b", {10}}});
  EXPECT_THAT(tick({{"a", {2}}, {"b", {20}}}), ElementsAre(1, 10, 2, 20));
}

TEST_F(ObserveTest, APhaseTurnsOnceInAPeriod) {
  Term term{.name = "gait", .source = Source::kPhase, .size = 2};
  term.period = 4;
  term.first_tick = 1;
  deployment_.terms = {term};
  make(2);
  EXPECT_THAT(tick({}), ElementsAre(FloatNear(1, 1e-6F), FloatNear(0, 1e-6F)));
  EXPECT_THAT(tick({}), ElementsAre(FloatNear(0, 1e-6F), FloatNear(-1, 1e-6F)));
}

TEST_F(ObserveTest, TheMotionsAnchorIsSeenFromTheRobots) {
  deployment_.motion = Motion{{"pelvis", "torso"}, 1};
  deployment_.terms = {{.name = "p", .source = Source::kAnchorPosition, .size = 3},
                       {.name = "r", .source = Source::kAnchorRotation, .size = 6}};
  make(9);
  const float h = std::sqrt(0.5F);
  // The robot faces along the world's y axis; the motion's torso is 1 m ahead of it.
  const std::vector<float> out = tick({{"anchor_pos", {1, 1, 0}},
                                       {"anchor_quat", {h, 0, 0, h}},
                                       {kReferenceBodies, {0, 0, 0, 1, 2, 0}},
                                       {kReferenceRotations, {1, 0, 0, 0, h, 0, 0, h}}});
  const std::vector<float> expected{1, 0, 0, 1, 0, 0, 1, 0, 0};
  EXPECT_THAT(out, ::testing::Pointwise(FloatNear(1e-6F), expected));
}

TEST_F(ObserveTest, AReferenceIsPositionsAndVelocities) {
  deployment_.terms = {{.name = "command", .source = Source::kReference, .size = 4}};
  make(4);
  EXPECT_THAT(tick({{kReferencePosition, {1, 2}}, {kReferenceVelocity, {3, 4}}}),
              ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace leapp::importing
