#include "controller/bound_policy.h"

#include <cmath>

#include "support.h"

namespace leapp {
namespace {

using ::testing::HasSubstr;
using testing::message_of;
using testing::PolicyBench;

class BoundPolicyTest : public ::testing::Test {
 protected:
  /// Returns a policy that counts its own ticks.
  BoundPolicyTest() {
    testing::add_legs(bench);
    bench.add_state("h", 2);
    bench.policy = [this](auto in, auto out) {
      for (std::size_t i = 0; i < 2; ++i) out[0][i] = out[1][i] = in[1][i] + 1;
      return !fails;
    };
    options = bench.controller_options();
    policy.emplace(bench.write(), bench.robot, options);
    plan = make_tick_plan(policy->bundle(), bench.robot, policy->binding(), options);
    state.emplace(plan);
    signals.emplace(plan);
    policy->start();
  }

  StepOutcome tick() {
    signals->set(0, std::array{0.0, 0.0}, {}).value();
    return policy->tick(plan, *state, *signals, {}, nullptr, 0);
  }

  bool fails = false;
  PolicyBench bench;
  ControllerOptions options;
  TickPlan plan;
  std::optional<TickState> state;
  std::optional<SignalMemory> signals;
  std::optional<BoundPolicy> policy;
};

TEST_F(BoundPolicyTest, RestartsWithItsInitialState) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(tick().state, ControllerState::kRunning);
  EXPECT_EQ(signals->actuators[0][0], 2);  // of two periods
  policy->restart();
  state->begin_policy();
  tick();
  EXPECT_EQ(signals->actuators[0][0], 1);
}

TEST_F(BoundPolicyTest, HasTheOutputsOfAGoodResultOnly) {
  tick();
  ASSERT_EQ(policy->result().size(), 1U);
  tick();  // not due
  EXPECT_TRUE(policy->result().empty());
  fails = true;
  tick();
  EXPECT_TRUE(policy->result().empty());
  EXPECT_THAT(std::string(policy->failure()), HasSubstr("the test's policy failed"));
}

// The policy takes the time between two readings of the clock, which may be anywhere.
TEST(BoundPolicyDeadline, ASlowPolicyIsLate) {
  using std::chrono::nanoseconds;
  constexpr nanoseconds kLongAgo = nanoseconds::min();
  struct Case {
    nanoseconds began;
    nanoseconds ended;
    std::uint64_t late;
  };
  for (const Case& each : {Case{nanoseconds(0), nanoseconds(1000), 0},
                           {nanoseconds(0), nanoseconds(1001), 1},
                           {nanoseconds(5000), nanoseconds(0), 0},
                           {kLongAgo, nanoseconds::max(), 1},
                           {nanoseconds::max(), kLongAgo, 0}}) {
    PolicyBench bench;
    testing::add_legs(bench);
    bench.options.deadline = nanoseconds(1000);
    bench.policy = [&](auto, auto) {
      bench.now = each.ended;
      return true;
    };
    Controller controller(bench.write(), bench.robot, bench.controller_options());
    controller.start();
    controller.set_sensor(0, std::array{0.0, 0.0}).value();
    bench.now = each.began;                                     // preparing ran the policy, too
    EXPECT_EQ(controller.update(), ControllerState::kRunning);  // late, but used
    EXPECT_EQ(controller.counts()[static_cast<std::size_t>(Cause::kLate)], each.late)
        << each.ended.count();
  }
}

TEST(CheckedOptions, HaveAClockAndNoNegativeTime) {
  const Robot robot{.rate = 100};
  EXPECT_TRUE(checked(robot, {}).clock);
  ControllerOptions options;
  options.worker_poll = std::chrono::nanoseconds(-1);
  EXPECT_THAT(message_of([&] { checked(robot, options); }), HasSubstr("worker_poll"));
  EXPECT_THAT(message_of([&] { checked(Robot{}, {}); }), HasSubstr("[LP651]"));
  for (const double frequency : {0.0, -1.0, HUGE_VAL, testing::kNan}) {
    options = {};
    options.frequency = frequency;
    EXPECT_THAT(message_of([&] { checked(robot, options); }), HasSubstr("[LP653]")) << frequency;
  }
}

}  // namespace
}  // namespace leapp
