#include "controller/input_side.h"

#include <limits>

#include "step_bench.h"

namespace leapp {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using ::testing::ElementsAre;
using testing::kNan;
using testing::named_port;
using testing::StepBench;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class InputSideTest : public ::testing::Test {
 protected:
  void build(const PortContract& contract, std::int64_t steps = 1) {
    Port& port = bench.bench.inputs[0];
    if (steps > 1) {
      port.shape = {1, steps, 1};
      port.semantics.element_names =
          ElementNames{{}, TemporalAxis{10}, std::vector<std::string>{"hip"}};
    }
    add_contract(port.semantics, contract);
    bench.build();
  }
  /// Runs the next tick with that measurement. Returns whether the policy must run.
  bool ask(double value, nanoseconds age = {}) {
    bench.measure(value, age);
    const bool asked = bench.gather();
    bench.finish(PolicyResult::Kind::kNone);
    return asked;
  }
  bool ask_without_measurement() {
    const bool asked = bench.gather();
    bench.finish(PolicyResult::Kind::kNone);
    return asked;
  }
  /// Ticks in which the policy is due alternate with others.
  void skip(double value) { EXPECT_FALSE(ask(value)); }

  StepBench bench;
};

TEST_F(InputSideTest, ConvertsUnits) {
  bench.bench.robot.sensors[0].unit = "mm";
  build({.unit = "m"});
  EXPECT_TRUE(ask(250));
  EXPECT_THAT(bench.policy_inputs[0], ElementsAre(0.25F));
}

TEST_F(InputSideTest, AValueThatOverflowsThePortIsNotFinite) {
  build({});
  for (const double value : {1e39, -1e39, kInfinity, kNan}) {
    EXPECT_FALSE(ask(value)) << value;
    skip(1);
  }
  EXPECT_EQ(bench.count(Cause::kNotFinite), 4U);
  EXPECT_TRUE(ask(3.4e38));
}

TEST_F(InputSideTest, AConversionThatOverflowsIsNotFinite) {
  bench.bench.robot.sensors[0].unit = "kN";
  build({.unit = "N"});
  EXPECT_FALSE(ask(1e306));
  EXPECT_EQ(bench.count(Cause::kNotFinite), 1U);
}

TEST_F(InputSideTest, ALimitThatBringsAValueIntoTheTypeDoesSo) {
  build({.limits = Limits{{}, {5}, {}}});
  EXPECT_TRUE(ask(1e39));
  EXPECT_THAT(bench.policy_inputs[0], ElementsAre(5));
  EXPECT_EQ(bench.count(Cause::kClamped), 1U);
  EXPECT_EQ(bench.count(Cause::kNotFinite), 0U);
}

TEST_F(InputSideTest, TheRateCountsFromTheLastGoodReading) {
  build({.limits = Limits{{}, {}, {50}}});  // 1 in the 20 ms between two readings
  EXPECT_TRUE(ask(1));
  skip(9);
  EXPECT_FALSE(ask(kNan));
  skip(9);
  EXPECT_TRUE(ask(9));
  EXPECT_THAT(bench.policy_inputs[0], ElementsAre(2));
  EXPECT_EQ(bench.count(Cause::kSlewed), 1U);
}

TEST_F(InputSideTest, AnOverflowLeavesTheRateAlone) {
  build({.limits = Limits{{}, {}, {50}}});
  EXPECT_FALSE(ask(1e39));  // the first reading: no rate applies
  skip(0);
  EXPECT_TRUE(ask(7));
  EXPECT_THAT(bench.policy_inputs[0], ElementsAre(7));
}

TEST_F(InputSideTest, StopsBeyondLimits) {
  build({.limits = Limits{{}, {5}, {}, OnViolation::kStop}});
  EXPECT_FALSE(ask(6));
  EXPECT_EQ(bench.state->state, ControllerState::kStopped);
  EXPECT_EQ(bench.count(Cause::kBeyondLimits), 1U);
  EXPECT_EQ(bench.count(Cause::kClamped), 0U);
}

TEST_F(InputSideTest, ASampleBeyondLimitsStopsAlsoBetweenTwoRunsOfThePolicy) {
  build({.limits = Limits{{}, {5}, {}, OnViolation::kStop}}, 3);
  EXPECT_TRUE(ask(1));
  skip(6);
  EXPECT_EQ(bench.count(Cause::kBeyondLimits), 1U);
  EXPECT_EQ(bench.state->state, ControllerState::kStopped);
  EXPECT_FALSE(ask(1));
  EXPECT_EQ(bench.state->state, ControllerState::kStopped);
}

// A time axis of 30 ms, sampled every 10 ms.

TEST_F(InputSideTest, ATimeAxisWithoutAGoodSampleIsUnusable) {
  build({}, 3);
  EXPECT_FALSE(ask(kNan));
  skip(kNan);
  EXPECT_FALSE(ask(kNan));
  EXPECT_EQ(bench.count(Cause::kNotFinite), 3U);
  EXPECT_EQ(bench.count(Cause::kStale), 0U);
  skip(4);
  EXPECT_TRUE(ask(5));
  EXPECT_THAT(bench.policy_inputs[0], ElementsAre(4, 4, 5));
}

TEST_F(InputSideTest, ABadSampleRepeatsTheOneBefore) {
  build({}, 3);
  EXPECT_TRUE(ask(1));
  skip(2);
  EXPECT_TRUE(ask(3));
  skip(kNan);
  EXPECT_TRUE(ask(5));
  EXPECT_THAT(bench.policy_inputs[0], ElementsAre(3, 3, 5));  // each step at its own time
  skip(1e39);
  EXPECT_TRUE(ask(7));
  EXPECT_THAT(bench.policy_inputs[0], ElementsAre(5, 5, 7));
  EXPECT_EQ(bench.count(Cause::kNotFinite), 2U);
}

TEST_F(InputSideTest, ThePolicyNeedsAGoodNewestSample) {
  build({}, 3);
  EXPECT_FALSE(ask(kNan));  // no good sample yet
  skip(2);
  EXPECT_TRUE(ask(3));
  EXPECT_THAT(bench.policy_inputs[0], ElementsAre(2, 2, 3));
  skip(4);
  EXPECT_FALSE(ask(kNan));
  skip(6);
  EXPECT_TRUE(ask(7));
  EXPECT_THAT(bench.policy_inputs[0], ElementsAre(4, 6, 7));
}

TEST_F(InputSideTest, AGapLongerThanTheAgeRestartsTheTimeAxis) {
  build({.max_age_ms = 15}, 3);
  EXPECT_TRUE(ask(1));
  skip(2);
  EXPECT_TRUE(ask(3));
  skip(kNan);               // the last good sample is 10 ms old
  EXPECT_FALSE(ask(kNan));  // 20 ms
  skip(6);
  EXPECT_TRUE(ask(7));
  EXPECT_THAT(bench.policy_inputs[0], ElementsAre(6, 6, 7));
}

TEST_F(InputSideTest, ASensorThatIsNotSetIsAGapAsWell) {
  build({.max_age_ms = 15}, 3);
  EXPECT_TRUE(ask(1));
  skip(2);
  EXPECT_TRUE(ask_without_measurement());  // 10 ms old: the sample is repeated
  EXPECT_THAT(bench.policy_inputs[0], ElementsAre(1, 2, 2));
  EXPECT_FALSE(ask_without_measurement());
  EXPECT_TRUE(ask(5));
  EXPECT_THAT(bench.policy_inputs[0], ElementsAre(5, 5, 5));
}

TEST_F(InputSideTest, Ages) {
  build({.max_age_ms = 50});
  EXPECT_TRUE(ask(1, 50ms));
  skip(1);
  EXPECT_FALSE(ask(1, 50ms + 1ns));
  skip(1);
  EXPECT_FALSE(ask(1, nanoseconds::max()));
  EXPECT_FALSE(ask_without_measurement());  // older still, without wrapping
  EXPECT_FALSE(ask_without_measurement());
  EXPECT_EQ(bench.count(Cause::kStale), 3U);
}

TEST_F(InputSideTest, AnEnormousMaximumAgeIsNeverReached) {
  build({.max_age_ms = 1e300});
  EXPECT_FALSE(ask_without_measurement());  // never measured is stale nevertheless
  skip(1);
  EXPECT_TRUE(ask(1));
  bench.clock += std::chrono::hours(24 * 365 * 100);
  EXPECT_FALSE(ask_without_measurement());  // not due
  EXPECT_TRUE(ask_without_measurement());
}

TEST_F(InputSideTest, AClockThatStepsBackKeepsNothingFresh) {
  build({.max_age_ms = 25});
  EXPECT_TRUE(ask(1));
  bench.clock -= 1h;
  EXPECT_FALSE(ask_without_measurement());
  EXPECT_TRUE(ask_without_measurement());  // 10 ms: the step back counts as no time
  EXPECT_FALSE(ask_without_measurement());
  EXPECT_FALSE(ask_without_measurement());  // 30 ms
  EXPECT_EQ(bench.count(Cause::kStale), 1U);
  bench.clock = nanoseconds::min();
  skip(1);
  bench.clock = nanoseconds::max() - 1s;  // 292 years ahead
  EXPECT_FALSE(ask_without_measurement());
  EXPECT_EQ(bench.count(Cause::kStale), 2U);
}

TEST_F(InputSideTest, CommandsStayInTheirRanges) {
  bench.bench.inputs.push_back(named_port("cmd", "command/body/velocity", {"vx", "vy"}));
  bench.bench.contract.command_ranges = {{"vy", -1, 1}};
  bench.bench.robot.sensors.push_back(
      {.name = "cmd", .kind = "command/body/velocity", .elements = {"vx", "vy"}});
  bench.build();
  bench.sensors[1].values = {5, 5};
  bench.sensors[1].fresh = true;
  EXPECT_TRUE(ask(0));
  EXPECT_THAT(bench.policy_inputs[1], ElementsAre(5, 1));
}

}  // namespace
}  // namespace leapp
