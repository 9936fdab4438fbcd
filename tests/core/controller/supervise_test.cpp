#include "controller/supervise.h"

#include <tuple>

#include "supervisor_bench.h"

namespace leapp {
namespace {

using namespace std::chrono_literals;
using testing::above;
using testing::flag;
using testing::kNan;
using testing::named_port;
using testing::SupervisorBench;

using State = ControllerState;

/// Tests the pure function alone: "stand" is active, and "walk" also reads the sensor "tilt".
class Bench {
 public:
  Bench() {
    bench.policies[0].outputs.push_back({"fallen", DType::kBool, {1, 2}, {}});
    bench.policies[1].inputs.push_back(named_port("tilt", "state/tilt", {"x"}, {.max_age_ms = 50}));
  }

  void build() {
    for (const testing::PolicyBench& policy : bench.policies) {
      bundles.push_back(policy.bundle());
      bindings.push_back(bind(bundles.back(), bench.robot));
      require_bound(bindings.back(), bundles.back(), bench.robot);
    }
    std::vector<PolicyOnRobot> policies;
    for (std::size_t p = 0; p < bundles.size(); ++p) policies.push_back({bundles[p], bindings[p]});
    plan = make_supervisor_plan(bench.supervision, bench.robot, policies, bench.options);
    state.emplace(plan);
    sensors = make_sensors(plan.policies[0]);
    flags.resize(plan.flags.size());
  }

  void measure(std::size_t sensor, std::vector<double> values, std::chrono::nanoseconds age = 0s) {
    sensors[sensor] = {std::move(values), true, age};
  }

  /// Decides in one tick; the arguments apply to that tick only.
  bool decide() {
    const bool begins =
        supervise(plan, *state, {sensors, flags, busy, request, stop, clear}, clock);
    request.reset();
    stop = clear = false;
    for (SensorValues& sensor : sensors) sensor.fresh = false;
    clock += 10ms;
    ++state->policies[state->active].tick;
    return begins;
  }

  std::uint64_t count(SwitchEvent event) const {
    return state->log.counts()[static_cast<std::size_t>(event)];
  }
  State& active_state() { return state->policies[state->active].state; }

  SupervisorBench bench;
  std::deque<Bundle> bundles;
  std::deque<RobotBinding> bindings;
  SupervisorPlan plan;
  std::optional<SupervisorState> state;
  std::vector<SensorValues> sensors;
  std::vector<std::uint8_t> flags;
  std::vector<std::uint8_t> busy{0, 0};
  std::optional<std::size_t> request;
  bool stop = false, clear = false;
  std::chrono::nanoseconds clock{0};
};

// --- The table: every trigger, state of the target, and state of the active policy ---------------

enum class Trigger { kRequest, kFlag, kSensor, kPort };
enum class Target { kReady, kStale, kNeverMeasured, kNoNumber, kInfinite, kBusy };
enum class Active { kWaiting, kRunning, kFallback, kStopped, kEmergency };

using SwitchRow = std::tuple<Trigger, Target, Active>;

class SuperviseTable : public ::testing::TestWithParam<SwitchRow> {
 protected:
  void SetUp() override {
    if (trigger == Trigger::kFlag) bench.bench.add_switch("stand", "walk", flag("go"));
    if (trigger == Trigger::kSensor) bench.bench.add_switch("", "walk", above("q", 3));
    if (trigger == Trigger::kPort) {
      bench.bench.add_switch("stand", "walk", {SwitchCondition::Source::kPort, "pi/fallen"});
    }
    bench.build();
    // Runs one tick in which nothing happens.
    bench.measure(0, {1});
    if (target != Target::kNeverMeasured) bench.measure(1, {0, 0});
    bench.decide();
    bench.active_state() = std::array{State::kWaiting, State::kRunning, State::kFallback,
                                      State::kStopped, State::kStopped}
                               .at(static_cast<std::size_t>(active));
    bench.state->emergency = active == Active::kEmergency;
  }

  void pull_trigger() {
    if (trigger == Trigger::kRequest) bench.request = 1;
    if (trigger == Trigger::kFlag) bench.flags[0] = 1;
    bench.measure(0, {trigger == Trigger::kSensor ? 4.0 : 1.0});
    if (trigger == Trigger::kPort) {
      const std::array<float, 1> action{};
      const std::array<std::uint8_t, 2> fallen{0, 1};
      const std::array<const void*, 2> outputs{action.data(), fallen.data()};
      note_result(bench.plan, *bench.state, outputs);
    }
    if (target == Target::kStale) bench.measure(1, {0, 0}, 1h);
    if (target == Target::kNoNumber) bench.measure(1, {kNan, 0});
    if (target == Target::kInfinite) bench.measure(1, {-HUGE_VAL, 0});
    bench.busy[1] = target == Target::kBusy ? 1 : 0;
  }

  const Trigger trigger = std::get<0>(GetParam());
  const Target target = std::get<1>(GetParam());
  const Active active = std::get<2>(GetParam());
  Bench bench;
};

TEST_P(SuperviseTable, WhoIsActiveAndWhatIsCounted) {
  pull_trigger();
  const bool begins = bench.decide();
  const bool stopped = active == Active::kStopped || active == Active::kEmergency;
  const bool ready = target == Target::kReady && active != Active::kEmergency;
  const bool considered = trigger == Trigger::kRequest || !stopped;
  const bool switches = considered && ready;
  EXPECT_EQ(begins, switches);
  EXPECT_EQ(bench.state->active, switches ? 1U : 0U);
  EXPECT_EQ(bench.count(SwitchEvent::kSwitched), switches ? 1U : 0U);
  EXPECT_EQ(bench.count(SwitchEvent::kRefused), considered && !ready ? 1U : 0U);
  EXPECT_EQ(bench.count(SwitchEvent::kEmergencyStop), 0U);  // it began before
  EXPECT_EQ(bench.active_state() == State::kStopped, stopped && !switches);
  bench.decide();  // refused again, but counted once
  EXPECT_EQ(bench.count(SwitchEvent::kRefused), considered && !ready ? 1U : 0U);
}

std::string name_of_switch_row(const ::testing::TestParamInfo<SwitchRow>& info) {
  constexpr std::array kTriggers = {"request", "flag", "sensor", "port"};
  constexpr std::array kTargets = {"ready", "stale", "never_measured", "nan", "infinite", "busy"};
  constexpr std::array kActives = {"waiting", "running", "fallback", "stopped", "emergency"};
  const auto [trigger, target, active] = info.param;
  return std::string(kTriggers.at(static_cast<std::size_t>(trigger))) + "_" +
         kTargets.at(static_cast<std::size_t>(target)) + "_" +
         kActives.at(static_cast<std::size_t>(active));
}

INSTANTIATE_TEST_SUITE_P(
    All, SuperviseTable,
    ::testing::Combine(::testing::Values(Trigger::kRequest, Trigger::kFlag, Trigger::kSensor,
                                         Trigger::kPort),
                       ::testing::Values(Target::kReady, Target::kStale, Target::kNeverMeasured,
                                         Target::kNoNumber, Target::kInfinite, Target::kBusy),
                       ::testing::Values(Active::kWaiting, Active::kRunning, Active::kFallback,
                                         Active::kStopped, Active::kEmergency)),
    name_of_switch_row);

// --- The emergency stop: every way to start one, with and without a call that clears it
// -----------

using StopRow = std::tuple<Trigger, bool, bool>;  // requested by; latched before; cleared

class EmergencyTable : public ::testing::TestWithParam<StopRow> {};

TEST_P(EmergencyTable, IsLatched) {
  const auto [trigger, latched, cleared] = GetParam();
  Bench bench;
  if (trigger == Trigger::kFlag) bench.bench.add_switch("stand", "emergency_stop", flag("button"));
  if (trigger == Trigger::kSensor) bench.bench.add_switch("", "emergency_stop", above("q", 3));
  bench.build();
  bench.measure(0, {1});
  bench.measure(1, {0, 0});
  bench.stop = latched;
  bench.decide();
  bench.stop = trigger == Trigger::kRequest;
  if (trigger == Trigger::kFlag) bench.flags[0] = 1;
  if (trigger == Trigger::kSensor) bench.measure(0, {kNan});  // NaN does not meet the condition
  bench.clear = cleared;
  bench.decide();
  const bool asked = trigger != Trigger::kPort;  // nothing requests one
  EXPECT_EQ(bench.state->emergency, asked || (latched && !cleared));
  EXPECT_EQ(bench.count(SwitchEvent::kCleared), latched && cleared ? 1U : 0U);
  const std::uint64_t again = asked && (!latched || cleared) ? 1 : 0;
  EXPECT_EQ(bench.count(SwitchEvent::kEmergencyStop), again + (latched ? 1 : 0));
  // after clearing, the policy stays stopped until a request
  const bool stopped = asked || latched;
  EXPECT_EQ(bench.active_state() == State::kStopped, stopped);
}

INSTANTIATE_TEST_SUITE_P(All, EmergencyTable,
                         ::testing::Combine(::testing::Values(Trigger::kRequest, Trigger::kFlag,
                                                              Trigger::kSensor, Trigger::kPort),
                                            ::testing::Bool(), ::testing::Bool()));

// --- Cases outside the tables  -------------------------------------------------------------------

class SuperviseTest : public ::testing::Test {
 protected:
  void build() {
    bench.build();
    bench.measure(0, {1});
    bench.measure(1, {0, 0});
    bench.decide();
  }
  Bench bench;
};

TEST_F(SuperviseTest, AnEmergencyStopOutlastsARestart) {
  build();
  bench.stop = true;
  bench.decide();
  bench.state->restart();
  bench.decide();
  EXPECT_TRUE(bench.state->emergency);
  EXPECT_EQ(bench.active_state(), State::kStopped);
}

TEST_F(SuperviseTest, ARequestForTheActivePolicyChangesNothingUnlessItIsStopped) {
  build();
  bench.request = 0;
  EXPECT_FALSE(bench.decide());
  bench.active_state() = State::kStopped;
  bench.request = 0;
  EXPECT_TRUE(bench.decide());
  EXPECT_EQ(bench.active_state(), State::kWaiting);
  EXPECT_EQ(bench.count(SwitchEvent::kSwitched), 1U);
}

TEST_F(SuperviseTest, TheFirstSwitchThatIsNotRefusedIsCarriedOut) {
  bench.bench.add("get_up", 0);
  bench.bench.add_switch("stand", "walk", flag("go"));
  bench.bench.add_switch("stand", "get_up", flag("go"));
  bench.busy.push_back(0);
  build();
  bench.flags[0] = 1;
  bench.busy[1] = 1;
  EXPECT_TRUE(bench.decide());
  EXPECT_EQ(bench.state->active, 2U);
  const std::vector<SwitchRecord> log = bench.state->log.last();
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].event, SwitchEvent::kRefused);
  EXPECT_EQ(log[0].rule, 0U);
  EXPECT_EQ(log[1].policy, 2U);
  EXPECT_EQ(log[1].rule, 1U);
  EXPECT_EQ(log[1].tick, 1U);
}

TEST_F(SuperviseTest, ANanMeetsNoConditionOfAPolicy) {
  bench.bench.add_switch("", "walk", above("tilt", -1, "y"));
  bench.bench.policies[1].inputs.pop_back();  // it does not read the sensor that is NaN
  build();
  ASSERT_EQ(bench.state->active, 1U);  // 0 is above -1
  bench.state->restart();
  bench.measure(0, {1});
  bench.measure(1, {0, kNan});
  EXPECT_FALSE(bench.decide());
}

TEST_F(SuperviseTest, ASensorThatWasNeverMeasuredMeetsNoCondition) {
  bench.bench.add_switch("", "emergency_stop", above("tilt", -1));
  bench.build();
  bench.measure(0, {1});
  bench.decide();
  EXPECT_FALSE(bench.state->emergency);
}

TEST_F(SuperviseTest, WhatAPortSaidIsForgottenWithASwitch) {
  bench.bench.add_switch("stand", "walk", {SwitchCondition::Source::kPort, "pi/fallen"});
  build();
  const std::array<float, 1> action{};
  const std::array<std::uint8_t, 2> fallen{1, 0};
  const std::array<const void*, 2> outputs{action.data(), fallen.data()};
  note_result(bench.plan, *bench.state, outputs);
  EXPECT_TRUE(bench.decide());
  bench.request = 0;
  EXPECT_TRUE(bench.decide());
  EXPECT_FALSE(bench.decide());  // no result of this policy yet
  EXPECT_EQ(bench.state->active, 0U);
}

TEST_F(SuperviseTest, ARefusalIsCountedOnceAlsoWhenALaterSwitchIsCarriedOut) {
  bench.bench.add_switch("", "walk", flag("go"));  // refused: "tilt" was never measured
  bench.bench.add_switch("stand", "lie", flag("go"));
  bench.bench.add("lie", 7);
  bench.busy.push_back(0);
  bench.build();
  bench.flags[0] = 1;
  bench.measure(0, {1});
  ASSERT_TRUE(bench.decide());
  EXPECT_EQ(bench.state->active, 2U);
  ASSERT_FALSE(bench.decide());
  EXPECT_EQ(bench.count(SwitchEvent::kRefused), 1U);
  EXPECT_EQ(bench.count(SwitchEvent::kSwitched), 1U);
}

TEST_F(SuperviseTest, HandsOverTimeSensorsAndWhatWasSent) {
  bench.bench.robot.actuators[0].unit = "deg";
  add_contract(bench.bench.policies[0].outputs[0].semantics, {.unit = "rad"});
  build();
  TickState& stand = bench.state->policies[0];
  stand.outputs[0].has_sent = true;
  stand.outputs[0].sent = {1};  // 57.3 degrees
  bench.request = 1;
  ASSERT_TRUE(bench.decide());
  const TickState& walk = bench.state->policies[1];
  EXPECT_TRUE(walk.outputs[0].has_sent);
  EXPECT_NEAR(walk.outputs[0].sent[0], 57.29577951308232, 1e-12);
  EXPECT_EQ(walk.began, 1U);
  EXPECT_TRUE(walk.sensors[1].measured);
  EXPECT_EQ(walk.sensors[1].age, 10ms);
}

TEST_F(SuperviseTest, APolicyThatSentNothingHandsOverWhatItWasGiven) {
  constexpr double kDegrees = 7.3;  // rounded in radians and back, so the number differs
  bench.bench.robot.actuators[0].unit = "deg";
  add_contract(bench.bench.policies[0].outputs[0].semantics, {.unit = "deg"});
  add_contract(bench.bench.policies[1].outputs[0].semantics, {.unit = "rad"});
  build();
  const OutputState& stand = bench.state->policies[0].outputs[0];
  bench.state->policies[0].outputs[0].has_sent = true;
  bench.state->policies[0].outputs[0].sent = {kDegrees};
  bench.request = 1;
  ASSERT_TRUE(bench.decide());
  bench.request = 0;
  ASSERT_TRUE(bench.decide());
  EXPECT_TRUE(stand.has_sent);
  EXPECT_EQ(stand.sent[0], kDegrees);
}

}  // namespace
}  // namespace leapp
