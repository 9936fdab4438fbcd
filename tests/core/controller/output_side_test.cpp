#include "controller/output_side.h"

#include <limits>

#include "step_bench.h"

namespace leapp {
namespace {

using namespace std::chrono_literals;
using testing::kNan;
using testing::named_port;
using testing::StepBench;

using State = ControllerState;

class OutputSideTest : public ::testing::Test {
 protected:
  void build(const PortContract& contract) {
    add_contract(bench.bench.outputs[0].semantics, contract);
    bench.build();
  }
  void use_worker() {
    bench.bench.options.execution = Execution::kWorker;
    bench.bench.options.deadline = 1h;
  }
  /// Runs a tick with that measurement, and the policy's answer if it is requested.
  State tick(double measured, double action) {
    bench.measure(measured);
    return bench.tick(action);
  }

  StepBench bench;
};

TEST_F(OutputSideTest, ConvertsUnits) {
  bench.bench.robot.actuators[0].unit = "mm";
  build({.unit = "m"});
  tick(0, 0.25);
  EXPECT_EQ(bench.sent(), 250);
}

TEST_F(OutputSideTest, AStopHoldsTheLastOutput) {
  build({.limits = Limits{{}, {50}, {}, OnViolation::kStop}, .fallback = Hold{}});
  EXPECT_EQ(tick(0, 1.25), State::kRunning);
  tick(0, 1.25);
  EXPECT_EQ(tick(0, 2001), State::kStopped);
  EXPECT_EQ(bench.sent(), 1.25);  // not 50
  EXPECT_EQ(tick(0, 1), State::kStopped);
  EXPECT_EQ(bench.sent(), 1.25);
  EXPECT_EQ(bench.count(Cause::kBeyondLimits), 1U);
}

TEST_F(OutputSideTest, AStopOfOneOutputHoldsAllOthers) {
  bench.bench.outputs.insert(bench.bench.outputs.begin(),
                             named_port("kp", "kp", {"hip"}));  // computed before the other
  bench.bench.robot.actuators.push_back({.name = "kp", .kind = "kp", .elements = {"hip"}});
  add_contract(bench.bench.outputs[1].semantics,
               {.limits = Limits{{}, {50}, {}, OnViolation::kStop}});
  bench.build();
  for (const float action : {1.0F, 1.0F, 100.0F}) {
    bench.measure(0);
    bench.results[0][0] = bench.results[1][0] = action;
    bench.finish(bench.gather() ? PolicyResult::Kind::kGood : PolicyResult::Kind::kNone);
  }
  EXPECT_EQ(bench.state->state, State::kStopped);
  EXPECT_EQ(bench.sent(), 1);
  EXPECT_EQ(bench.actuators[1][0], 1);
}

TEST_F(OutputSideTest, AStopMovesNoFurtherThanOneStep) {
  build({.limits = Limits{{}, {}, {100}, OnViolation::kStop}, .fallback = std::vector{5.0}});
  tick(0, 0.5);
  EXPECT_EQ(bench.sent(), 0.5);
  tick(0, 0.5);
  EXPECT_EQ(tick(0, 9), State::kStopped);
  EXPECT_EQ(bench.sent(), 1.5);  // towards the fallback, by 1 per tick
  tick(0, 9);
  EXPECT_EQ(bench.sent(), 2.5);
}

TEST_F(OutputSideTest, TheRateCountsFromTheMeasuredPose) {
  build({.limits = Limits{{}, {}, {1}}});
  EXPECT_EQ(tick(10, 21), State::kRunning);
  EXPECT_DOUBLE_EQ(bench.sent(), 10.01);
  EXPECT_EQ(bench.count(Cause::kSlewed), 1U);
}

TEST_F(OutputSideTest, TheFirstTargetOfAWorkerIsNoFurtherAway) {
  use_worker();
  build({.limits = Limits{{}, {}, {1}}});
  bench.measure(10);
  EXPECT_EQ(bench.tick_without_result(), State::kWaiting);
  EXPECT_EQ(bench.sent(), 10);
  EXPECT_EQ(tick(10, 21), State::kRunning);
  EXPECT_DOUBLE_EQ(bench.sent(), 10.01);
}

TEST_F(OutputSideTest, AFirstFallbackKeepsTheRateAsWell) {
  build({.limits = Limits{{}, {}, {1}}, .fallback = std::vector{0.0}});
  bench.measure(10);
  bench.gather();
  EXPECT_EQ(bench.finish(PolicyResult::Kind::kFailed).state, State::kFallback);
  EXPECT_DOUBLE_EQ(bench.sent(), 9.99);
}

TEST_F(OutputSideTest, WithoutAMeasuredPoseTheFirstTargetIsFree) {
  bench.bench.robot.sensors[0].kind = bench.bench.inputs[0].semantics.kind.emplace("state/other");
  build({.limits = Limits{{}, {30}, {1}}});
  tick(10, 21);
  EXPECT_EQ(bench.sent(), 21);
  tick(10, 25);
  tick(10, 25);
  EXPECT_DOUBLE_EQ(bench.sent(), 21.01);
}

TEST_F(OutputSideTest, FromBeyondItsLimitsATargetReturnsAtItsRate) {
  for (const bool worker : {false, true}) {
    if (worker) use_worker();
    build({.limits = Limits{{}, {5}, {100}}});
    bench.measure(10);
    if (worker) bench.tick_without_result();
    for (const double expected : {9, 8, 7, 6, 5, 5}) {
      EXPECT_EQ(tick(10, 21), State::kRunning);
      EXPECT_EQ(bench.sent(), expected);
    }
    EXPECT_EQ(bench.count(Cause::kSlewed), 4U);  // the step to 5 is allowed
    EXPECT_EQ(bench.count(Cause::kClamped), 6U);
  }
}

TEST_F(OutputSideTest, WithoutARateATargetIsInItsLimitsAtOnce) {
  build({.limits = Limits{{}, {5}, {}}});
  EXPECT_EQ(tick(10, 21), State::kRunning);
  EXPECT_EQ(bench.sent(), 5);
}

TEST_F(OutputSideTest, HoldKeepsEvenAPoseBeyondTheLimits) {
  use_worker();
  build({.limits = Limits{{}, {5}, {100}}});
  bench.measure(10);
  bench.tick_without_result();
  EXPECT_EQ(bench.sent(), 10);
  bench.gather();
  EXPECT_EQ(bench.finish(PolicyResult::Kind::kFailed).state, State::kFallback);
  EXPECT_EQ(bench.sent(), 10);
}

TEST_F(OutputSideTest, APolicyThatWaitsAfterASwitchHolds) {
  use_worker();
  build({});
  bench.state->handed_over = true;
  bench.state->outputs[0].has_sent = true;
  bench.state->outputs[0].sent = {3};
  bench.measure(1);
  EXPECT_EQ(bench.tick_without_result(), State::kWaiting);
  EXPECT_EQ(bench.sent(), 3);
}

TEST_F(OutputSideTest, APoseThatIsHalfKnownIsNotSent) {
  use_worker();
  bench.bench.robot.joints = {"hip", "knee"};
  for (auto* const signal : {&bench.bench.robot.sensors[0], &bench.bench.robot.actuators[0]}) {
    signal->elements = {"hip", "knee"};
  }
  bench.bench.inputs = {named_port("q", "state/joint/position", {"hip", "knee"})};
  bench.bench.outputs = {named_port("action", "target/joint/position", {"hip", "knee"})};
  bench.build();
  bench.measure({1, 2});
  bench.tick_without_result();
  EXPECT_EQ(bench.actuators[0], (std::vector<double>{1, 2}));
  bench.measure({3, kNan});
  bench.tick_without_result();
  bench.gather();
  bench.finish(PolicyResult::Kind::kFailed);
  EXPECT_EQ(bench.actuators[0], (std::vector<double>{1, 2}));  // held, not mixed with 3
}

TEST_F(OutputSideTest, ALineBeginsAtTheTargetIfNothingWasSent) {
  use_worker();
  bench.bench.contract.frequency = 25;  // every fourth tick
  bench.bench.options.interpolation = Interpolation::kLinear;
  bench.bench.robot.sensors[0].kind = bench.bench.inputs[0].semantics.kind.emplace("state/other");
  build({});
  bench.measure(0);
  for (int i = 0; i < 4; ++i) bench.tick_without_result();  // requests; there is no pose to hold
  bench.measure(kNan);
  EXPECT_EQ(bench.tick(8), State::kFallback);  // accepted, and the next inputs are bad
  EXPECT_EQ(bench.sent(), StepBench::kUntouched);
  bench.measure(0);
  for (int i = 0; i < 4; ++i) bench.tick_without_result();  // requests again in the last one
  EXPECT_EQ(bench.tick(4), State::kRunning);
  EXPECT_EQ(bench.sent(), 4);  // not on the line from 0
}

TEST_F(OutputSideTest, NothingInfiniteIsSent) {
  bench.bench.robot.actuators[0].unit = "mm";
  build({.unit = "m", .fallback = std::vector{2e306}});
  EXPECT_EQ(tick(0, 1), State::kRunning);
  EXPECT_EQ(bench.sent(), 1000);
  bench.gather();
  EXPECT_EQ(bench.finish(PolicyResult::Kind::kFailed).state, State::kFallback);
  EXPECT_EQ(bench.sent(), 1000);  // 2e309 mm is infinite
}

TEST_F(OutputSideTest, AStepIsSentExactlyHoweverFarAwayTheNextIs) {
  Port& action = bench.bench.outputs[0];
  action.shape = {2, 1};
  action.semantics.element_names = ElementNames{TemporalAxis{20}, std::vector<std::string>{"hip"}};
  build({});
  tick(0, 1);
  bench.state->outputs[0].chunk = {-1.5e308, 1.5e308};  // their difference is infinite
  EXPECT_EQ(bench.tick_without_result(), State::kRunning);
  EXPECT_EQ(bench.sent(), -1.5e308);
}

TEST_F(OutputSideTest, DampKeepsWhatWasSentWhereThePoseIsUnknown) {
  build({.fallback = Damp{}});
  EXPECT_EQ(tick(3, 5), State::kRunning);
  tick(3, 5);
  EXPECT_EQ(tick(kNan, 5), State::kFallback);  // not finite: neither an input nor a pose
  EXPECT_EQ(bench.sent(), 5);
}

TEST_F(OutputSideTest, DampHoldsTheDampingOfAJoint) {
  bench.bench.outputs.push_back(named_port("kd", "kd", {"hip"}, {.fallback = Damp{}}));
  bench.bench.outputs.push_back(named_port("kp", "kp", {"hip"}, {.fallback = Damp{}}));
  for (const char* gain : {"kd", "kp"}) {
    bench.bench.robot.actuators.push_back({.name = gain, .kind = gain, .elements = {"hip"}});
  }
  build({.fallback = Damp{}});
  bench.results[1][0] = 7;
  bench.results[2][0] = 40;
  tick(3, 5);
  EXPECT_EQ(bench.actuators[1][0], 7);
  EXPECT_EQ(bench.actuators[2][0], 40);
  tick(3, 5);
  EXPECT_EQ(tick(kNan, 5), State::kFallback);
  EXPECT_EQ(bench.actuators[1][0], 7);
  EXPECT_EQ(bench.actuators[2][0], 0);
}

TEST_F(OutputSideTest, OnlyPositionsBlendInAndWaitAtTheMeasuredPose) {
  bench.bench.outputs.push_back(named_port("speed", "target/joint/velocity", {"hip"}));
  bench.bench.robot.actuators.push_back(
      {.name = "speed", .kind = "target/joint/velocity", .elements = {"hip"}});
  bench.bench.options.execution = Execution::kWorker;
  bench.bench.options.deadline = 1h;
  bench.bench.options.blend_in = 40ms;
  build({});
  bench.measure(2);
  EXPECT_EQ(bench.tick_without_result(), State::kWaiting);
  EXPECT_EQ(bench.sent(), 2);
  EXPECT_EQ(bench.actuators[1][0], StepBench::kUntouched);
  bench.results[1][0] = 8;
  EXPECT_EQ(tick(2, 6), State::kRunning);
  EXPECT_EQ(bench.sent(), 3);  // the first of four ticks
  EXPECT_EQ(bench.actuators[1][0], 8);
}

TEST_F(OutputSideTest, DampFollowsTheJointWithinTheRate) {
  build({.limits = Limits{{}, {}, {100}}, .fallback = Damp{}});
  tick(0, 0);
  bench.measure(0.5);
  bench.gather();
  bench.finish(PolicyResult::Kind::kFailed);
  EXPECT_EQ(bench.sent(), 0.5);
  bench.measure(7);
  bench.tick_without_result();
  EXPECT_EQ(bench.sent(), 1.5);
  bench.measure(kNan);  // unknown now, so it stays
  bench.tick_without_result();
  EXPECT_EQ(bench.sent(), 1.5);
}

}  // namespace
}  // namespace leapp
