#include "leapp/controller.h"

#include <atomic>
#include <limits>
#include <numbers>
#include <thread>

#include "support.h"

namespace leapp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;
using testing::add_legs;
using testing::Floats;
using testing::kNan;
using testing::message_of;
using testing::named_port;
using testing::PolicyBench;
using testing::values;

std::uint64_t count_of(const Controller& controller, Cause cause) {
  return controller.counts()[static_cast<std::size_t>(cause)];
}

/// Runs one tick of the loop at 100 Hz with that measurement, in the robot's order.
ControllerState step(PolicyBench& bench, Controller& controller, std::vector<double> q) {
  controller.set_sensor(0, q).value();
  const ControllerState state = controller.update();
  bench.now += 10ms;
  return state;
}

TEST(Controller, RunsThePolicyInItsOwnOrderAndRate) {
  PolicyBench bench;
  add_legs(bench);
  int runs = 0;
  const auto doubling = bench.policy;
  bench.policy = [&](auto in, auto out) {
    ++runs;
    EXPECT_TRUE(in[0][0] == 0 || in[0][0] > in[0][1]);  // hip before knee; 0 when prepared
    return doubling(in, out);
  };
  Controller controller = bench.make();
  EXPECT_EQ(controller.decimation(), 2U);
  EXPECT_EQ(controller.update(), ControllerState::kInactive);
  controller.start();
  runs = 0;
  EXPECT_EQ(step(bench, controller, {1, 10}), ControllerState::kRunning);
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(2, 20));
  step(bench, controller, {3, 30});  // between two ticks of the policy, the target is held
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(2, 20));
  step(bench, controller, {4, 40});
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(8, 80));
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(controller.ticks(), 3U);
}

TEST(Controller, ConvertsUnitsBothWays) {
  PolicyBench bench;
  add_legs(bench, {.unit = "rad"});
  add_contract(bench.inputs[0].semantics, {.unit = "rad"});
  bench.robot.sensors[0].unit = "deg";
  bench.robot.actuators[0].unit = "deg";
  Controller controller = bench.make();
  controller.start();
  step(bench, controller, {10, 90});
  EXPECT_NEAR(controller.actuator_values(0)[0], 20, 1e-5);
  EXPECT_NEAR(controller.actuator_values(0)[1], 180, 1e-5);
}

TEST(Controller, InterpolatesTargets) {
  PolicyBench bench;
  add_legs(bench);
  bench.options.interpolation = Interpolation::kLinear;
  Controller controller = bench.make();
  controller.start();
  step(bench, controller, {1, 1});
  step(bench, controller, {1, 1});
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(2, 2));
  step(bench, controller, {2, 2});
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(3, 3));
  step(bench, controller, {2, 2});
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(4, 4));
}

TEST(Controller, PlaysChunksBack) {
  PolicyBench bench;
  add_legs(bench);
  bench.contract.frequency = 25;
  Port& action = bench.outputs[0];
  action.shape = {1, 3, 2};
  action.semantics.element_names =
      ElementNames{{}, TemporalAxis{10}, std::vector<std::string>{"hip", "knee"}};
  bench.policy = [](auto in, auto out) {
    for (std::size_t i = 0; i < 6; ++i) out[0][i] = in[0][0] + static_cast<float>(i);
    return true;
  };
  Controller controller = bench.make();
  controller.start();
  const auto hip = [&] { return controller.actuator_values(0)[1]; };
  std::vector<double> played;
  for (int i = 0; i < 5; ++i) {
    step(bench, controller, {0, i < 4 ? 100.0 : 200.0});
    played.push_back(hip());
  }
  EXPECT_THAT(played, ElementsAre(100, 102, 104, 104, 200));  // the last step is held
}

TEST(Controller, FillsHistories) {
  PolicyBench bench;
  add_legs(bench);
  Port& q = bench.inputs[0];
  q.shape = {1, 3, 2};
  q.semantics.element_names =
      ElementNames{{}, TemporalAxis{20}, std::vector<std::string>{"hip", "knee"}};
  add_contract(q.semantics, {.history = History{HistoryOrder::kOldestFirst, {}}});
  std::vector<float> read;
  bench.policy = [&](auto in, auto) {
    read.assign(in[0].begin(), in[0].end());
    return true;
  };
  Controller controller = bench.make();
  controller.start();
  for (const double knee : {1, 2, 3, 4, 5}) step(bench, controller, {knee, 10 * knee});
  EXPECT_THAT(read, ElementsAre(10, 1, 30, 3, 50, 5));
  controller.start();  // and clears them
  step(bench, controller, {7, 70});
  EXPECT_THAT(read, ElementsAre(70, 7, 70, 7, 70, 7));
}

TEST(Controller, ClampsCommandsInputsAndOutputs) {
  PolicyBench bench;
  add_legs(bench, {.limits = Limits{{-3}, {3}, {}}});
  bench.inputs.push_back(named_port("cmd", "command/body/velocity", {"vx"}));
  bench.contract.command_ranges = {{"vx", -1, 1}};
  bench.robot.sensors.push_back(
      {.name = "cmd", .kind = "command/body/velocity", .elements = {"vx"}});
  float command = 0;
  const auto doubling = bench.policy;
  bench.policy = [&](auto in, auto out) {
    command = in[1][0];
    return doubling(in, out);
  };
  Controller controller = bench.make();
  controller.start();
  controller.set_sensor(1, std::array{5.0}).value();
  step(bench, controller, {1, 2});
  EXPECT_EQ(command, 1);
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(2, 3));
  EXPECT_EQ(count_of(controller, Cause::kClamped), 2U);
  EXPECT_EQ(controller.interventions()[0].port, "pi/cmd");
  EXPECT_EQ(controller.interventions()[1].port, "pi/action");
  EXPECT_EQ(name_of(controller.interventions()[1].cause), "clamped");
}

TEST(Controller, KeepsTargetsBelowTheirRate) {
  PolicyBench bench;
  add_legs(bench, {.limits = Limits{{}, {}, {100}}});
  Controller controller = bench.make();
  controller.start();
  step(bench, controller, {0, 0});
  step(bench, controller, {0, 0});
  step(bench, controller, {10, 0});
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(1, 0));  // 100 / s in 10 ms
  step(bench, controller, {10, 0});
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(2, 0));
  EXPECT_EQ(count_of(controller, Cause::kSlewed), 2U);
}

TEST(Controller, StopsForGoodWhereLimitsSaySo) {
  PolicyBench bench;
  add_legs(bench, {.limits = Limits{{}, {3}, {}, OnViolation::kStop},
                   .fallback = std::vector<double>{0.5}});
  Controller controller = bench.make();
  controller.start();
  EXPECT_EQ(step(bench, controller, {1, 1}), ControllerState::kRunning);
  step(bench, controller, {1, 1});
  EXPECT_EQ(step(bench, controller, {5, 1}), ControllerState::kStopped);
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(0.5, 0.5));
  step(bench, controller, {1, 1});
  EXPECT_EQ(step(bench, controller, {1, 1}), ControllerState::kStopped);
  EXPECT_EQ(count_of(controller, Cause::kBeyondLimits), 1U);
  controller.start();
  EXPECT_EQ(step(bench, controller, {1, 1}), ControllerState::kRunning);
}

TEST(Controller, NanInASensorHoldsUntilItIsGone) {
  PolicyBench bench;
  add_legs(bench);
  Controller controller = bench.make();
  controller.start();
  step(bench, controller, {1, 1});
  step(bench, controller, {1, 1});
  EXPECT_EQ(step(bench, controller, {kNan, 1}), ControllerState::kFallback);
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(2, 2));
  step(bench, controller, {2, 2});
  EXPECT_EQ(step(bench, controller, {2, 2}), ControllerState::kRunning);
  EXPECT_EQ(count_of(controller, Cause::kNotFinite), 1U);
}

TEST(Controller, NanFromThePolicyLeadsToTheFallback) {
  PolicyBench bench;
  add_legs(bench, {.fallback = std::vector<double>{7, 8}});
  bench.policy = [](auto, auto out) {
    out[0][0] = std::numeric_limits<float>::quiet_NaN();
    return true;
  };
  Controller controller = bench.make();
  controller.start();
  EXPECT_EQ(step(bench, controller, {1, 1}), ControllerState::kFallback);
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(8, 7));  // the robot's order
}

TEST(Controller, AFailingTickIsCountedAndSaid) {
  PolicyBench bench;
  add_legs(bench);
  bool fails = false;
  bench.policy = [&](auto, auto) { return !fails; };
  Controller controller = bench.make();
  controller.start();
  fails = true;
  EXPECT_EQ(step(bench, controller, {1, 1}), ControllerState::kFallback);
  EXPECT_EQ(count_of(controller, Cause::kTickFailed), 1U);
  EXPECT_THAT(std::string(controller.failure()), HasSubstr("the test's policy failed"));
}

TEST(Controller, StaleInputsLeadToTheFallback) {
  PolicyBench bench;
  add_legs(bench, {.fallback = Damp{}});
  add_contract(bench.inputs[0].semantics, {.max_age_ms = 15});
  Controller controller = bench.make();
  controller.actuator_values(0)[0] = 99;
  controller.start();
  EXPECT_EQ(controller.update(), ControllerState::kFallback);  // never measured: nothing to do
  EXPECT_EQ(controller.actuator_values(0)[0], 99);
  controller.start();
  EXPECT_EQ(step(bench, controller, {1, 2}), ControllerState::kRunning);
  bench.now += 10ms;
  controller.update();
  EXPECT_EQ(controller.update(), ControllerState::kFallback);             // 20 ms old
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(1, 2));  // the measured pose
  EXPECT_GE(count_of(controller, Cause::kStale), 1U);
  controller.set_sensor(0, std::array{1.0, 2.0}, 16ms).value();  // fresh, but measured long ago
  controller.update();
  EXPECT_EQ(controller.update(), ControllerState::kFallback);
}

TEST(Controller, ASensorThatCannotBeSetIsAnErrorOfThatCall) {
  PolicyBench bench;
  add_legs(bench);
  Controller controller = bench.make();
  controller.start();
  const std::array values{1.0, 2.0, 3.0};
  EXPECT_EQ(controller.set_sensor(0, values).failure().code(), Code::kPortShape);
  EXPECT_EQ(controller.set_sensor(0, std::span(values).first(2), -1ns).failure().code(),
            Code::kPortShape);
  EXPECT_EQ(controller.set_sensor(7, values).failure().code(), Code::kNotBound);
  EXPECT_EQ(controller.set_fresh(7).failure().code(), Code::kNotBound);
  EXPECT_TRUE(controller.sensor_values(7).empty());
  EXPECT_EQ(controller.update(), ControllerState::kFallback);  // nothing was measured
  EXPECT_EQ(count_of(controller, Cause::kStale), 1U);
}

TEST(Controller, BlendsInFromTheMeasuredPose) {
  PolicyBench bench;
  add_legs(bench);
  bench.options.blend_in = 40ms;
  bench.policy = [](auto, auto out) {
    out[0][0] = out[0][1] = 5;
    return true;
  };
  Controller controller = bench.make();
  controller.start();
  std::vector<double> knee;
  for (int i = 0; i < 5; ++i) {
    step(bench, controller, {1, 1});
    knee.push_back(controller.actuator_values(0)[0]);
  }
  EXPECT_THAT(knee, ElementsAre(2, 3, 4, 5, 5));
}

TEST(Controller, BlendsInFromTheFallbackAfterOne) {
  PolicyBench bench;
  add_legs(bench, {.fallback = std::vector<double>{1}});
  bench.options.blend_in = 40ms;
  bench.policy = [](auto, auto out) {
    out[0][0] = out[0][1] = 5;
    return true;
  };
  Controller controller = bench.make();
  controller.start();
  EXPECT_EQ(step(bench, controller, {kNan, 1}), ControllerState::kFallback);
  EXPECT_EQ(controller.actuator_values(0)[0], 1);
  step(bench, controller, {3, 3});
  step(bench, controller, {3, 3});
  EXPECT_EQ(controller.actuator_values(0)[0], 2);  // not from 3, where the joint is
}

TEST(Controller, BlendingInNeedsTheMeasuredPose) {
  PolicyBench bench;
  add_legs(bench);
  bench.options.blend_in = 40ms;
  bench.robot.actuators[0].elements.emplace_back("ankle");
  bench.outputs[0] = named_port("action", "target/joint/position", {"hip", "ankle"});
  EXPECT_THAT(message_of([&] { bench.make(); }),
              HasSubstr("to blend in, each of its joints needs a sensor"));
}

TEST(Controller, ARowOfMistakesInOptions) {
  PolicyBench bench;
  add_legs(bench);
  bench.contract.frequency = 30;
  EXPECT_THAT(message_of([&] { bench.make(); }),
              HasSubstr("the period of the policy is 3.333333333 ticks"));
  bench.contract.frequency.reset();
  EXPECT_THAT(message_of([&] { bench.make(); }), HasSubstr("has no frequency"));
  bench.options.frequency = 0;
  EXPECT_THAT(message_of([&] { bench.make(); }), HasSubstr("must be positive"));
  bench.options.frequency = 50;
  bench.options.blend_in = -1ms;
  EXPECT_THAT(message_of([&] { bench.make(); }), HasSubstr("blend_in must not be negative"));
  bench.options.blend_in = 0ms;
  bench.outputs[0].semantics.kind = "target/body/position";
  bench.robot.actuators[0].kind = "target/body/position";
  add_contract(bench.outputs[0].semantics, {.fallback = Damp{}});
  EXPECT_THAT(message_of([&] { bench.make(); }), HasSubstr("damp, which is not defined for"));
}

TEST(Controller, NamesOfSignals) {
  PolicyBench bench;
  add_legs(bench);
  const Controller controller = bench.make();
  EXPECT_EQ(controller.actuator("target"), 0U);
  EXPECT_THAT(message_of([&] { (void)controller.sensor("qq"); }),
              HasSubstr("the robot has no sensor 'qq'; it has: q"));
}

// A policy whose target and next state are its state plus twice its input.
void add_integrator(PolicyBench& bench) {
  add_legs(bench, {.fallback = std::vector<double>{7}});
  bench.add_state("h", 2);
  bench.policy = [](auto in, auto out) {
    for (std::size_t i = 0; i < 2; ++i) out[0][i] = out[1][i] = in[1][i] + 2 * in[0][i];
    return true;
  };
}

TEST(Controller, ASampleThatOverflowsLeavesNoTrace) {
  PolicyBench bench;
  add_integrator(bench);
  Controller controller = bench.make();
  controller.start();
  step(bench, controller, {1, 1});
  step(bench, controller, {1, 1});
  EXPECT_EQ(step(bench, controller, {1e39, 1}), ControllerState::kFallback);
  EXPECT_EQ(count_of(controller, Cause::kNotFinite), 1U);
  step(bench, controller, {1, 1});
  EXPECT_EQ(step(bench, controller, {1, 1}), ControllerState::kRunning);
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(4, 4));
}

TEST(Controller, AResultThatIsNotFiniteLeavesNoTrace) {
  PolicyBench bench;
  add_integrator(bench);
  Controller controller = bench.make();
  controller.start();
  step(bench, controller, {1, 1});
  step(bench, controller, {1, 1});
  for (int i = 0; i < 2; ++i) {  // finite, but not when doubled
    EXPECT_EQ(step(bench, controller, {3e38, 1}), ControllerState::kFallback);
    step(bench, controller, {1, 1});
  }
  EXPECT_EQ(count_of(controller, Cause::kNotFinite), 2U);
  EXPECT_EQ(step(bench, controller, {1, 1}), ControllerState::kRunning);
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(4, 4));
}

TEST(Controller, AnOutputThatIsNotFiniteTakesTheStateBack) {
  PolicyBench bench;
  add_integrator(bench);
  const auto integrate = bench.policy;
  bench.policy = [&](auto in, auto out) {
    integrate(in, out);
    if (in[0][0] == 5) out[0][0] = std::numeric_limits<float>::quiet_NaN();  // the state is fine
    return true;
  };
  Controller controller = bench.make();
  controller.start();
  EXPECT_EQ(step(bench, controller, {1, 5}), ControllerState::kFallback);
  EXPECT_EQ(controller.interventions()[0].port, "pi/action");
  step(bench, controller, {1, 1});
  EXPECT_EQ(step(bench, controller, {1, 1}), ControllerState::kRunning);
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(2, 2));
}

/// A worker that a test blocks and releases. The tests run ticks until the result arrives; the
/// clock stands still, or the deadline is far away, so it is never late.
class WorkerTest : public ::testing::Test {
 protected:
  WorkerTest() {
    add_legs(bench);
    bench.options.execution = Execution::kWorker;
    bench.options.worker_poll = 10us;
    bench.options.deadline = 1h;
    const auto doubling = bench.policy;
    bench.policy = [this, doubling](auto in, auto out) {
      while (held) std::this_thread::yield();
      return doubling(in, out);
    };
  }
  ~WorkerTest() override { held = false; }

  ControllerState step_until(Controller& controller, ControllerState wanted,
                             const std::vector<double>& q) {
    ControllerState state = step(bench, controller, q);
    while (state != wanted) {
      std::this_thread::yield();
      state = step(bench, controller, q);
    }
    return state;
  }

  std::atomic<bool> held{false};
  PolicyBench bench;
};

TEST_F(WorkerTest, HandsResultsOver) {
  Controller controller = bench.make();
  controller.start();
  held = true;
  EXPECT_EQ(step(bench, controller, {1, 2}), ControllerState::kWaiting);
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(1, 2));  // the measured pose
  held = false;
  step_until(controller, ControllerState::kRunning, {1, 2});
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(2, 4));
  EXPECT_EQ(count_of(controller, Cause::kLate), 0U);
}

TEST_F(WorkerTest, ReadsItsInputsWhileTheNextAreGathered) {
  Controller controller = bench.make();
  controller.start();
  held = true;
  step(bench, controller, {1, 2});
  for (int i = 0; i < 5; ++i) step(bench, controller, {50, 60});  // busy: due, but not requested
  held = false;
  step_until(controller, ControllerState::kRunning, {50, 60});
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(2, 4));
}

TEST_F(WorkerTest, HoldsTheLastTargetWhenItIsLate) {
  Controller controller = bench.make();
  controller.start();
  step_until(controller, ControllerState::kRunning, {1, 2});
  held = true;
  step(bench, controller, {1, 2});  // asks again, here or in the next tick
  step(bench, controller, {1, 2});
  bench.now += 1h;
  EXPECT_EQ(step(bench, controller, {3, 4}), ControllerState::kFallback);
  EXPECT_THAT(values(controller.actuator_values(0)), ElementsAre(2, 4));
  step(bench, controller, {3, 4});
  EXPECT_EQ(count_of(controller, Cause::kLate), 1U);  // one result, late once
  held = false;
  step_until(controller, ControllerState::kRunning, {3, 4});
}

TEST_F(WorkerTest, EndsWithAResultUnderWay) {
  Controller controller = bench.make();
  controller.start();
  step(bench, controller, {1, 2});
  controller.stop();
  EXPECT_EQ(step(bench, controller, {1, 2}), ControllerState::kInactive);
  controller.start();
  EXPECT_EQ(controller.ticks(), 0U);
  step(bench, controller, {1, 2});  // and the destructor waits for this one
}

}  // namespace
}  // namespace leapp
