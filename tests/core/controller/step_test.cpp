#include "controller/step.h"

#include <cmath>
#include <limits>
#include <tuple>

#include "step_bench.h"

namespace leapp {
namespace {

using namespace std::chrono_literals;
using testing::StepBench;
using Kind = PolicyResult::Kind;
using State = ControllerState;

constexpr float kNanResult = std::numeric_limits<float>::quiet_NaN();

// --- The table: every cause, fallback, execution, way of playing and moment ----------------------
//
// The joint is at 1. The policy runs in every fourth tick; it normally answers 2 (or a chunk of 2,
// 4 and 6), and 100 (102, 104) together with the cause. Limits that a cause needs are an upper
// bound of 8, or a rate of 2 in a tick.

enum class Given { kHold, kDamp, kValue, kNone };
enum class Mode { kHold, kLinear, kChunk };
enum class Moment { kFirst, kRunning, kAfterFallback };

using Row = std::tuple<Cause, Given, Execution, Mode, Moment>;

constexpr double kPose = 1;
constexpr double kGood = 2;
constexpr double kBeyond = 100;
constexpr double kFallbackValue = 3;
constexpr double kUpper = 8;
constexpr double kRateInATick = 2;

bool leads_to_fallback(Cause cause, Execution execution) {
  switch (cause) {
    case Cause::kClamped:
    case Cause::kSlewed:
      return false;
    case Cause::kLate:
      return execution == Execution::kWorker;  // otherwise the result has arrived and is used
    default:
      return true;
  }
}

class StepTable : public ::testing::TestWithParam<Row> {
 protected:
  StepTable() { std::tie(cause, given, execution, mode, moment) = GetParam(); }

  void build() {
    PortContract contract;
    if (cause == Cause::kClamped) contract.limits = Limits{{}, {kUpper}, {}};
    if (cause == Cause::kSlewed) contract.limits = Limits{{}, {}, {100 * kRateInATick}};
    if (cause == Cause::kBeyondLimits) {
      contract.limits = Limits{{}, {kUpper}, {}, OnViolation::kStop};
    }
    if (given == Given::kHold) contract.fallback = Hold{};
    if (given == Given::kDamp) contract.fallback = Damp{};
    if (given == Given::kValue) contract.fallback = std::vector{kFallbackValue};
    Port& action = bench.bench.outputs[0];
    if (mode == Mode::kChunk) {
      action.shape = {1, 3, 1};
      action.semantics.element_names =
          ElementNames{{}, TemporalAxis{10}, std::vector<std::string>{"hip"}};
    }
    add_contract(action.semantics, contract);
    add_contract(bench.bench.inputs[0].semantics, {.max_age_ms = 50});
    if (mode == Mode::kLinear) bench.bench.options.interpolation = Interpolation::kLinear;
    bench.bench.options.execution = execution;
    bench.bench.contract.frequency = 25;
    bench.build();
  }

  void answer(double value) {
    for (std::size_t i = 0; i < bench.results[0].size(); ++i) {
      bench.results[0][i] = static_cast<float>(value + 2 * static_cast<double>(i));
    }
  }

  bool is_worker() const { return execution == Execution::kWorker; }

  /// Runs one normal period, from the tick that is due to the last one before the next.
  void run_well() {
    for (int i = 0; i < 4; ++i) {
      bench.measure(kPose);
      answer(kGood);
      const bool asked = bench.gather();
      const bool answers = is_worker() ? i == 1 : asked;
      last = bench.finish(answers ? Kind::kGood : Kind::kNone).state;
    }
  }
  /// Runs one period without a measurement.
  void run_stale() {
    for (int i = 0; i < 4; ++i) {
      bench.measure(kPose, 1h);
      bench.gather();
      last = bench.finish(Kind::kNone).state;
    }
  }

  /// Runs the period with the cause, up to the tick in which it takes effect.
  void run_cause() {
    answer(kBeyond);
    if (cause == Cause::kNotFinite) bench.results[0][0] = kNanResult;
    bench.measure(kPose, cause == Cause::kStale ? 1h : 0s);
    bench.late = cause == Cause::kLate && !is_worker();
    const Kind kind = cause == Cause::kTickFailed ? Kind::kFailed : Kind::kGood;
    const bool asked = bench.gather();
    EXPECT_EQ(asked, cause != Cause::kStale);
    if (!is_worker() || !asked) {
      last = bench.finish(asked ? kind : Kind::kNone).state;
      return;
    }
    last = bench.finish(Kind::kNone).state;  // the worker begins
    bench.measure(kPose);
    if (cause != Cause::kLate) {
      bench.gather();
      last = bench.finish(kind).state;
      return;
    }
    for (int i = 0; i < 4; ++i) last = bench.tick_while_busy();  // until it is due again
  }

  /// Returns the last value sent before the cause, or NaN.
  double sent_before() const {
    if (moment == Moment::kFirst) {
      // A worker holds the measured pose, unless the inputs were stale in the first tick.
      return is_worker() && cause != Cause::kStale ? kPose : std::nan("");
    }
    if (moment == Moment::kAfterFallback && given == Given::kDamp) return kPose;
    if (moment == Moment::kAfterFallback && given == Given::kValue) return kFallbackValue;
    return mode == Mode::kChunk ? kGood + 4 : kGood;
  }

  /// Returns the value that is sent in the tick of the cause.
  double expected() const {
    const double before = sent_before();
    if (leads_to_fallback(cause, execution)) {
      if (given == Given::kDamp) return kPose;
      if (given == Given::kValue) return kFallbackValue;
      return std::isnan(before) ? StepBench::kUntouched : before;
    }
    double target = kBeyond;
    if (mode == Mode::kLinear && !std::isnan(before)) {
      target = before + (is_worker() ? 0.5 : 0.25) * (kBeyond - before);
    }
    if (mode == Mode::kChunk && is_worker()) target = kBeyond + 2;  // requested one tick ago
    if (cause == Cause::kClamped) return std::min(target, kUpper);
    if (cause != Cause::kSlewed) return target;
    const double start = std::isnan(before) ? kPose : before;
    return std::min(target, start + kRateInATick);
  }

  StepBench bench;
  Cause cause{};
  Given given{};
  Execution execution{};
  Mode mode{};
  Moment moment{};
  State last{};
};

TEST_P(StepTable, WhatGoesOutAndWhatIsCounted) {
  build();
  if (moment != Moment::kFirst) run_well();
  if (moment == Moment::kAfterFallback) run_stale();
  const double before = sent_before();
  if (!std::isnan(before) && moment != Moment::kFirst) {
    ASSERT_EQ(bench.sent(), before);
  }
  const auto counted = bench.state->log.counts();
  run_cause();
  EXPECT_EQ(bench.sent(), expected());
  State state = State::kRunning;
  if (leads_to_fallback(cause, execution)) state = State::kFallback;
  if (cause == Cause::kBeyondLimits) state = State::kStopped;
  EXPECT_EQ(last, state);
  for (std::size_t i = 0; i < kCauses; ++i) {
    std::uint64_t times = i == static_cast<std::size_t>(cause) ? 1 : 0;
    // A bound with on_violation: stop was also exceeded.
    if (cause == Cause::kBeyondLimits && static_cast<Cause>(i) == Cause::kClamped) times = 1;
    EXPECT_EQ(bench.state->log.counts()[i] - counted[i], times) << name_of(static_cast<Cause>(i));
  }
}

std::string name_of_row(const ::testing::TestParamInfo<Row>& info) {
  constexpr std::array kGivens = {"hold", "damp", "value", "none"};
  constexpr std::array kModes = {"newest", "linear", "chunk"};
  constexpr std::array kMoments = {"first", "running", "after_fallback"};
  const auto [cause, given, execution, mode, moment] = info.param;
  return std::string(name_of(cause)) + "_" + kGivens.at(static_cast<std::size_t>(given)) +
         (execution == Execution::kWorker ? "_worker_" : "_synchronous_") +
         kModes.at(static_cast<std::size_t>(mode)) + "_" +
         kMoments.at(static_cast<std::size_t>(moment));
}

INSTANTIATE_TEST_SUITE_P(
    All, StepTable,
    ::testing::Combine(::testing::Values(Cause::kClamped, Cause::kSlewed, Cause::kBeyondLimits,
                                         Cause::kNotFinite, Cause::kStale, Cause::kLate,
                                         Cause::kTickFailed),
                       ::testing::Values(Given::kHold, Given::kDamp, Given::kValue, Given::kNone),
                       ::testing::Values(Execution::kSynchronous, Execution::kWorker),
                       ::testing::Values(Mode::kHold, Mode::kLinear, Mode::kChunk),
                       ::testing::Values(Moment::kFirst, Moment::kRunning, Moment::kAfterFallback)),
    name_of_row);

// --- Cases outside the table  -------------------------------------------------------------------

class StepTest : public ::testing::Test {
 protected:
  void use_worker(std::optional<std::chrono::nanoseconds> deadline = {}) {
    bench.bench.options.execution = Execution::kWorker;
    bench.bench.options.deadline = deadline;
  }
  StepBench bench;
};

TEST_F(StepTest, AResultThatIsNotFiniteIsDiscarded) {
  bench.build();
  bench.measure(1);
  bench.results[0][0] = kNanResult;
  ASSERT_TRUE(bench.gather());
  const StepOutcome outcome = bench.finish(Kind::kGood);
  EXPECT_TRUE(outcome.discard);
  EXPECT_EQ(outcome.state, State::kFallback);
  bench.gather();
  EXPECT_FALSE(bench.finish(Kind::kNone).discard);
}

TEST_F(StepTest, AStateThatWouldNotBeFiniteCountsAsNotFinite) {
  bench.build();
  bench.measure(1);
  ASSERT_TRUE(bench.gather());
  const StepOutcome outcome = bench.finish(Kind::kNotFinite);
  EXPECT_FALSE(outcome.discard);  // it was already kept
  EXPECT_EQ(outcome.state, State::kFallback);
  EXPECT_EQ(bench.count(Cause::kNotFinite), 1U);
}

TEST_F(StepTest, AWorkerIsAskedOncePerPeriodAndNeverWhileBusy) {
  use_worker(1h);
  bench.build();
  std::vector<bool> requests;
  for (const bool busy : {false, true, true, true, false, false}) {
    bench.measure(1);
    bench.gather(busy);
    requests.push_back(bench.finish(busy ? Kind::kBusy : Kind::kNone).request);
  }
  EXPECT_EQ(requests, (std::vector<bool>{true, false, false, false, true, false}));
  EXPECT_EQ(bench.count(Cause::kLate), 0U);  // the deadline is an hour
}

TEST_F(StepTest, APeriodThatIsSkippedIsCounted) {
  use_worker();
  bench.build();
  bench.measure(1);
  bench.tick_without_result();
  bench.tick_while_busy();
  bench.clock -= 1ns;  // a period, except for the clock's jitter
  EXPECT_EQ(bench.tick_while_busy(), State::kFallback);
  EXPECT_EQ(bench.count(Cause::kLate), 1U);
  bench.tick_while_busy();
  bench.tick_while_busy();
  EXPECT_EQ(bench.count(Cause::kLate), 1U);  // one result, late once
  EXPECT_EQ(bench.tick(5), State::kRunning);
  EXPECT_EQ(bench.sent(), 5);
}

TEST_F(StepTest, ADeadlineOfItsOwn) {
  use_worker(15ms);
  bench.build();
  bench.measure(1);
  EXPECT_EQ(bench.tick_without_result(), State::kWaiting);
  EXPECT_EQ(bench.tick_while_busy(), State::kWaiting);
  EXPECT_EQ(bench.tick_while_busy(), State::kFallback);
  EXPECT_EQ(bench.count(Cause::kLate), 1U);
}

TEST_F(StepTest, AWorkerIsLateAlsoAfterAClockThatJumpedByCenturies) {
  use_worker(15ms);
  bench.build();
  bench.measure(1);
  bench.tick_without_result();
  for (int jump = 0; jump < 2; ++jump) {
    bench.clock = std::chrono::nanoseconds::min();
    bench.tick_without_result();
    bench.clock = std::chrono::nanoseconds::max() - 1h;
    bench.tick_without_result();
  }
  bench.tick_without_result();
  bench.tick_without_result();  // requests
  bench.tick_while_busy();
  EXPECT_EQ(bench.count(Cause::kLate), 0U);
  EXPECT_EQ(bench.tick_while_busy(), State::kFallback);
  EXPECT_EQ(bench.count(Cause::kLate), 1U);
}

TEST_F(StepTest, AStoppedWorkerIsNotAskedAgain) {
  use_worker();
  add_contract(bench.bench.outputs[0].semantics,
               {.limits = Limits{{}, {8}, {}, OnViolation::kStop}});
  bench.build();
  bench.measure(1);
  bench.tick_without_result();
  bench.tick_without_result();
  bench.results[0][0] = 9;
  ASSERT_TRUE(bench.gather());
  const StepOutcome outcome = bench.finish(Kind::kGood);
  EXPECT_EQ(outcome.state, State::kStopped);
  EXPECT_FALSE(outcome.request);
}

TEST_F(StepTest, BlendsInFromTheFallbackAfterOne) {
  bench.bench.options.blend_in = 40ms;
  add_contract(bench.bench.outputs[0].semantics, {.fallback = std::vector{1.0}});
  bench.build();
  bench.tick_without_result();  // never measured
  EXPECT_EQ(bench.sent(), 1);
  bench.measure(3);
  bench.tick_without_result();
  for (const double expected : {2, 3, 4, 5, 5}) {
    bench.tick(5);
    EXPECT_EQ(bench.sent(), expected);
  }
}

TEST_F(StepTest, RestartForgetsEverything) {
  add_contract(bench.bench.outputs[0].semantics, {.limits = Limits{{}, {}, {100}}});
  bench.build();
  bench.measure(10);
  bench.tick(21);
  EXPECT_EQ(bench.sent(), 11);
  bench.state->restart();
  EXPECT_EQ(bench.tick_without_result(), State::kFallback);  // never measured since
  EXPECT_EQ(bench.count(Cause::kStale), 1U);
  bench.state->restart();
  bench.measure(20);
  bench.tick(21);
  EXPECT_EQ(bench.sent(), 21);  // within 1 of the pose
}

}  // namespace
}  // namespace leapp
