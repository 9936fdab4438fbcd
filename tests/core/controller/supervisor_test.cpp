#include "leapp/supervisor.h"

#include <atomic>
#include <thread>

#include "leapp/tools/replay.h"
#include "replay/mcap_reader.h"
#include "supervisor_bench.h"

namespace leapp {
namespace {

using namespace std::chrono_literals;
using testing::above;
using ::testing::Contains;
using testing::flag;
using ::testing::HasSubstr;
using testing::message_of;
using testing::SupervisorBench;
using State = ControllerState;

std::uint64_t count_of(const Supervisor& supervisor, SwitchEvent event) {
  return supervisor.switch_counts()[static_cast<std::size_t>(event)];
}

double sent(Supervisor& supervisor) {
  return supervisor.actuator_values(0)[0];
}

TEST(Supervisor, SwitchesOnRequestAndBlendsFromWhatWasSent) {
  SupervisorBench bench;
  bench.supervision.policies[1].blend_in = 0.03;
  Supervisor supervisor = bench.make();
  EXPECT_EQ(bench.tick(supervisor), State::kInactive);
  supervisor.start();
  EXPECT_EQ(bench.tick(supervisor), State::kRunning);
  EXPECT_EQ(supervisor.active(), supervisor.policy("stand"));
  EXPECT_EQ(sent(supervisor), 2);
  supervisor.request(supervisor.policy("walk")).value();
  std::vector<double> targets;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(bench.tick(supervisor), State::kRunning);
    targets.push_back(sent(supervisor));
  }
  EXPECT_THAT(targets, ::testing::ElementsAre(3, 4, 5, 5));
  EXPECT_EQ(supervisor.active(), supervisor.policy("walk"));
  EXPECT_EQ(count_of(supervisor, SwitchEvent::kSwitched), 1U);
  EXPECT_EQ(supervisor.switches()[0].tick, 1U);
  EXPECT_EQ(supervisor.ticks(), 5U);
}

TEST(Supervisor, KeepsTheRateAcrossASwitch) {
  SupervisorBench bench;
  add_contract(bench.policies[1].outputs[0].semantics, {.limits = Limits{{}, {}, {100}}});
  Supervisor supervisor = bench.make();
  supervisor.start();
  bench.tick(supervisor);
  supervisor.request(1).value();
  bench.tick(supervisor, 4.5);  // the joint is not at its target
  EXPECT_EQ(sent(supervisor), 3);
  EXPECT_EQ(supervisor.counts(1)[static_cast<std::size_t>(Cause::kSlewed)], 1U);
  EXPECT_EQ(supervisor.interventions(1)[0].tick, 1U);
  EXPECT_TRUE(supervisor.interventions(0).empty());
}

TEST(Supervisor, EachBeginningIsANewOne) {
  SupervisorBench bench;
  testing::PolicyBench& walk = bench.policies[1];
  walk.add_state("h", 1);
  walk.policy = [](auto in, auto out) {
    out[0][0] = out[1][0] = in[1][0] + 1;
    return true;
  };
  Supervisor supervisor = bench.make();
  supervisor.start();
  for (int round = 0; round < 2; ++round) {
    supervisor.request(1).value();
    for (int i = 0; i < 4; ++i) bench.tick(supervisor);
    EXPECT_EQ(sent(supervisor), 2);  // two periods
    supervisor.request(0).value();
    bench.tick(supervisor);
    EXPECT_EQ(sent(supervisor), 2);
  }
}

TEST(Supervisor, RefusesWhileInputsAreStale) {
  SupervisorBench bench;
  bench.policies[1].inputs.push_back(
      testing::named_port("tilt", "state/tilt", {"x"}, {.max_age_ms = 15}));
  bench.add_switch("stand", "walk", flag("go"));
  Supervisor supervisor = bench.make();
  supervisor.start();
  supervisor.set_flag(supervisor.flag("go"), true).value();
  for (int i = 0; i < 3; ++i) bench.tick(supervisor);
  EXPECT_EQ(supervisor.active(), 0U);
  EXPECT_EQ(count_of(supervisor, SwitchEvent::kRefused), 1U);
  supervisor.set_sensor(1, std::array{0.0, 0.0}, 10ms).value();
  bench.tick(supervisor);
  EXPECT_EQ(supervisor.active(), 1U);
  EXPECT_EQ(supervisor.switches()[1].rule, 0U);
}

TEST(Supervisor, SwitchesOnASensorAndOnAPort) {
  SupervisorBench bench;
  bench.add_switch("stand", "walk", above("tilt", 0.5, "y"));
  bench.add_switch("walk", "stand", {SwitchCondition::Source::kPort, "pi/score", {}, 7, {}});
  testing::PolicyBench& walk = bench.policies[1];
  walk.outputs.push_back({"score", DType::kFloat32, {1}, {}});
  walk.policy = [](auto in, auto out) {
    out[0][0] = 5;
    out[1][0] = in[0][0];
    return true;
  };
  Supervisor supervisor = bench.make();
  supervisor.start();
  supervisor.set_sensor(1, std::array{9.0, 0.6}).value();
  bench.tick(supervisor);
  EXPECT_EQ(supervisor.active(), 1U);
  supervisor.set_sensor(1, std::array{9.0, 0.4}).value();
  bench.tick(supervisor, 8);
  bench.tick(supervisor, 8);  // the policy's output is true now
  EXPECT_EQ(supervisor.active(), 1U);
  bench.tick(supervisor, 8);
  EXPECT_EQ(supervisor.active(), 0U);
}

TEST(Supervisor, AnEmergencyStopSendsTheCommonFallbackUntilItIsCleared) {
  SupervisorBench bench;
  bench.supervision.fallback = {{"m", std::vector{-1.0}}};
  for (testing::PolicyBench& policy : bench.policies) {
    add_contract(policy.outputs[0].semantics, {.limits = Limits{{}, {}, {100}}});
  }
  Supervisor supervisor = bench.make();
  supervisor.start();
  bench.tick(supervisor);
  EXPECT_EQ(sent(supervisor), 2);
  std::thread([&] { supervisor.emergency_stop(); }).join();  // from any thread
  std::vector<double> targets;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(bench.tick(supervisor), State::kStopped);
    targets.push_back(sent(supervisor));
  }
  EXPECT_THAT(targets, ::testing::ElementsAre(1, 0, -1, -1));  // at the rate of the output
  EXPECT_TRUE(supervisor.is_emergency_stopped());
  supervisor.request(1).value();
  EXPECT_EQ(bench.tick(supervisor), State::kStopped);
  EXPECT_EQ(count_of(supervisor, SwitchEvent::kRefused), 1U);
  supervisor.start();  // does not clear it
  EXPECT_EQ(bench.tick(supervisor), State::kStopped);
  supervisor.clear_emergency_stop();
  EXPECT_EQ(bench.tick(supervisor), State::kStopped);  // nothing moves by itself
  EXPECT_FALSE(supervisor.is_emergency_stopped());
  EXPECT_EQ(count_of(supervisor, SwitchEvent::kCleared), 1U);
  supervisor.request(1).value();
  EXPECT_EQ(bench.tick(supervisor), State::kRunning);
  EXPECT_EQ(supervisor.active(), 1U);
}

TEST(Supervisor, AStopWinsOverAClear) {
  SupervisorBench bench;
  Supervisor supervisor = bench.make();
  supervisor.start();
  supervisor.emergency_stop();
  supervisor.clear_emergency_stop();
  EXPECT_EQ(bench.tick(supervisor), State::kStopped);
  EXPECT_TRUE(supervisor.is_emergency_stopped());
}

TEST(Supervisor, AStopForLimitsSendsTheCommonFallbackAndAFallbackItsOwn) {
  SupervisorBench bench;
  bench.supervision.fallback = {{"m", Damp{}}};
  float answer = 2;
  bench.policies[0].policy = [&](auto, auto out) {
    out[0][0] = answer;
    return answer < 50;
  };
  add_contract(bench.policies[0].outputs[0].semantics,
               {.limits = Limits{{}, {9}, {}, OnViolation::kStop}, .fallback = std::vector{4.0}});
  Supervisor supervisor = bench.make();
  supervisor.start();
  answer = 60;  // fails
  EXPECT_EQ(bench.tick(supervisor), State::kFallback);
  EXPECT_EQ(sent(supervisor), 4);
  EXPECT_THAT(std::string(supervisor.failure(0)), HasSubstr("the test's policy failed"));
  answer = 10;
  bench.tick(supervisor);
  EXPECT_EQ(bench.tick(supervisor, 1.5), State::kStopped);
  EXPECT_EQ(sent(supervisor), 1.5);  // the position of the joint
  supervisor.request(1).value();
  EXPECT_EQ(bench.tick(supervisor), State::kRunning);
}

TEST(Supervisor, TheFirstPolicyIsActiveAgainAfterStart) {
  SupervisorBench bench;
  Supervisor supervisor = bench.make();
  supervisor.start();
  bench.tick(supervisor);
  supervisor.request(1).value();
  bench.tick(supervisor);
  supervisor.request(1).value();
  supervisor.stop();
  EXPECT_EQ(bench.tick(supervisor), State::kInactive);
  supervisor.start();
  EXPECT_EQ(supervisor.active(), 0U);
  EXPECT_EQ(supervisor.ticks(), 0U);
  bench.tick(supervisor);
  EXPECT_EQ(supervisor.active(), 0U);  // earlier requests are dropped
}

/// Workers that a test blocks and releases; the deadline is far away.
class SupervisorWorkerTest : public ::testing::Test {
 protected:
  SupervisorWorkerTest() {
    bench.options.execution = Execution::kWorker;
    bench.options.worker_poll = 10us;
    bench.options.deadline = 1h;
    for (std::size_t p = 0; p < 2; ++p) {
      const testing::PolicyFunction function = bench.policies[p].policy;
      bench.policies[p].policy = [this, p, function](auto in, auto out) {
        while (held[p]) std::this_thread::yield();
        return function(in, out);
      };
    }
  }
  ~SupervisorWorkerTest() override { held[0] = held[1] = false; }

  /// Returns the number of ticks until the active policy runs.
  void run(Supervisor& supervisor) {
    while (bench.tick(supervisor) != State::kRunning) std::this_thread::yield();
  }

  std::array<std::atomic<bool>, 2> held{};
  SupervisorBench bench;
};

TEST_F(SupervisorWorkerTest, ThePolicyThatBeginsHoldsUntilItsFirstResult) {
  Supervisor supervisor = bench.make();
  supervisor.start();
  run(supervisor);
  held[1] = true;
  supervisor.request(1).value();
  EXPECT_EQ(bench.tick(supervisor, -3), State::kWaiting);
  EXPECT_EQ(supervisor.active(), 1U);
  EXPECT_EQ(sent(supervisor), 2);  // not the measured pose
  held[1] = false;
  run(supervisor);
  EXPECT_EQ(sent(supervisor), 5);
}

TEST_F(SupervisorWorkerTest, APolicyWhoseWorkerIsBusyIsRefusedAndItsResultDropped) {
  Supervisor supervisor = bench.make();
  supervisor.start();
  run(supervisor);
  held[0] = true;
  bench.tick(supervisor);
  bench.tick(supervisor);  // requested in one of these
  supervisor.request(1).value();
  run(supervisor);
  supervisor.request(0).value();
  bench.tick(supervisor);
  EXPECT_EQ(supervisor.active(), 1U);
  EXPECT_EQ(count_of(supervisor, SwitchEvent::kRefused), 1U);
  held[0] = false;
  while (supervisor.active() != 0) {
    supervisor.request(0).value();
    bench.tick(supervisor);
    std::this_thread::yield();
  }
  EXPECT_EQ(sent(supervisor), 5);  // no result of this policy yet
  run(supervisor);
  EXPECT_EQ(sent(supervisor), 2);
}

TEST(Supervisor, RecordsSwitchesAndThePortsOfEachPolicy) {
  SupervisorBench bench;
  const std::filesystem::path file = bench.policies[0].folder() / "run.mcap";
  bench.options.recording = file;
  bench.add_switch("stand", "walk", flag("go"));
  testing::PolicyBench& walk = bench.policies[1];
  walk.add_state("h", 1);
  walk.policy = [](auto in, auto out) {
    out[0][0] = out[1][0] = in[1][0] + in[0][0];
    return true;
  };
  {
    Supervisor supervisor = bench.make();
    supervisor.start();
    bench.tick(supervisor, 0.25);
    supervisor.set_flag(0, true).value();
    for (int i = 0; i < 4; ++i) bench.tick(supervisor, 0.5);
    supervisor.set_flag(0, false).value();
    supervisor.request(0).value();
    bench.tick(supervisor, 0.25);
    supervisor.request(1).value();
    bench.tick(supervisor, 0.125);
    supervisor.emergency_stop();
    bench.tick(supervisor, 0.25);
    EXPECT_EQ(supervisor.dropped(), 0U);
  }
  std::vector<std::string> lines;
  McapReader(file).read([&](const McapChannel& channel, std::uint64_t, std::string_view data) {
    lines.push_back(channel.topic + " " + std::string(data));
  });
  EXPECT_THAT(lines, Contains(R"(/controller {"tick":0,"event":"start","policy":"stand"})"));
  EXPECT_THAT(lines,
              Contains(R"(/controller {"tick":1,"event":"switched","rule":0,"policy":"walk"})"));
  EXPECT_THAT(lines, Contains(R"(/controller {"tick":5,"event":"switched","policy":"stand"})"));
  EXPECT_THAT(lines,
              Contains(R"(/controller {"tick":7,"event":"emergency_stop","policy":"walk"})"));
  EXPECT_THAT(lines, Contains(R"(/policies/walk/ports/pi/action {"tick":3,"values":{"hip":1}})"));
  const ReplayOptions options{.runtime = bench.controller_options().runtime, .policy = "walk"};
  const ReplayReport report = replay(file, walk.write(), options);
  EXPECT_EQ(report.ticks, 3U);  // ticks 1 and 3, and 6 with its own state
  EXPECT_FALSE(report.difference);
  EXPECT_THAT(message_of([&] {
                replay(file, walk.write(), {.runtime = options.runtime, .policy = "run"});
              }),
              HasSubstr("no tick of a policy 'run' [LP655]"));
}

TEST(Supervisor, ARowOfMistakes) {
  SupervisorBench bench;
  {
    Supervisor supervisor = bench.make();
    EXPECT_THAT(message_of([&] { (void)supervisor.policy("run"); }),
                HasSubstr("there is no policy 'run'; there are: stand, walk [LP656]"));
    EXPECT_THAT(message_of([&] { (void)supervisor.flag("go"); }), HasSubstr("no flag 'go'"));
    EXPECT_THAT(message_of([&] { (void)supervisor.sensor("go"); }), HasSubstr("[LP652]"));
    EXPECT_THAT(message_of([&] { (void)supervisor.binding(2); }), HasSubstr("no policy 2"));
    EXPECT_EQ(supervisor.request(2).failure().code(), Code::kSupervision);
    EXPECT_EQ(supervisor.set_flag(0, true).failure().code(), Code::kSupervision);
    EXPECT_EQ(supervisor.bundle(1).models[0].name, "pi");
    EXPECT_TRUE(supervisor.actuator_values(7).empty());
  }
  bench.options.blend_in = 1s;
  EXPECT_THAT(message_of([&] { bench.make(); }), HasSubstr("blend_in in the description"));
  bench.options.blend_in = 0s;
  bench.policies[1].inputs[0].semantics.kind = "state/joint/effort";
  EXPECT_THAT(message_of([&] { bench.make(); }), HasSubstr("policy 'walk': "));
}

}  // namespace
}  // namespace leapp
