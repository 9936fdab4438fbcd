#include "controller/policy_runner.h"

#include <atomic>
#include <thread>

#include "support.h"

namespace leapp {
namespace {

using namespace std::chrono_literals;
using Phase = PolicyRunner::Phase;
using testing::add_legs;
using ::testing::HasSubstr;
using testing::PolicyBench;

/// Returns a policy with a state: the next state and the target are twice the input plus the state.
void add_state(PolicyBench& bench) {
  add_legs(bench);
  bench.add_state("h", 2);
  bench.policy = [](auto in, auto out) {
    for (std::size_t i = 0; i < 2; ++i) out[1][i] = in[1][i] + 2 * in[0][i];
    for (std::size_t i = 0; i < 2; ++i) out[0][i] = std::min(out[1][i], 1000.0F);
    return true;
  };
}

class PolicyRunnerTest : public ::testing::Test {
 protected:
  InferenceManager make() {
    return InferenceManager(bench.write(), bench.controller_options().runtime);
  }
  static void set(InferenceManager& manager, float value) {
    ASSERT_TRUE(manager.set_input(manager.input_port("pi/q"), std::vector<float>{value, value}));
  }
  static float output(InferenceManager& manager) {
    return manager.output(manager.output_port("pi/action")).values<float>()[0];
  }

  PolicyBench bench;
};

TEST_F(PolicyRunnerTest, RunsAtOnceWithoutAWorker) {
  add_legs(bench);
  InferenceManager manager = make();
  PolicyRunner runner(manager, Execution::kSynchronous, 0ns);
  EXPECT_EQ(runner.phase(), Phase::kIdle);
  set(manager, 3);
  runner.request();
  EXPECT_EQ(runner.phase(), Phase::kDone);
  EXPECT_TRUE(runner.take());
  EXPECT_EQ(runner.phase(), Phase::kIdle);
  EXPECT_EQ(output(manager), 6);
}

TEST_F(PolicyRunnerTest, AWorkerHandsTheResultOver) {
  add_legs(bench);
  std::atomic<bool> held{true};
  const auto doubling = bench.policy;
  bench.policy = [&](auto in, auto out) {
    while (held) std::this_thread::yield();
    return doubling(in, out);
  };
  InferenceManager manager = make();
  PolicyRunner runner(manager, Execution::kWorker, 0ns);
  set(manager, 3);
  runner.request();
  EXPECT_EQ(runner.phase(), Phase::kRequested);  // while the policy is blocked
  held = false;
  while (runner.phase() == Phase::kRequested) std::this_thread::yield();
  EXPECT_EQ(runner.phase(), Phase::kDone);
  EXPECT_TRUE(runner.take());
  EXPECT_EQ(output(manager), 6);
  runner.request();
  runner.finish();  // waits, and drops the result
  EXPECT_EQ(runner.phase(), Phase::kIdle);
}

TEST_F(PolicyRunnerTest, AStateThatWouldOverflowIsKept) {
  add_state(bench);
  InferenceManager manager = make();
  PolicyRunner runner(manager, Execution::kSynchronous, 0ns);
  set(manager, 1);
  runner.request();
  EXPECT_TRUE(runner.take());
  EXPECT_EQ(output(manager), 2);
  set(manager, 3e38F);  // the input and the output are finite; the state is not
  runner.request();
  const Result<void> done = runner.take();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.failure().code(), Code::kNotFinite);
  EXPECT_THAT(std::string(done.failure().message()), HasSubstr("state became NaN or infinite"));
  set(manager, 1);
  runner.request();
  EXPECT_TRUE(runner.take());
  EXPECT_EQ(output(manager), 4);  // 2 + 2: the failed tick changed nothing
}

TEST_F(PolicyRunnerTest, AStateThatBeginsInfiniteIsNotGuarded) {
  add_state(bench);
  InferenceManager manager = make();
  const std::vector<float> infinite(2, -std::numeric_limits<float>::infinity());
  manager.set_input_value("pi", "h", {infinite.data(), DType::kFloat32, {1, 2}});
  PolicyRunner runner(manager, Execution::kSynchronous, 0ns);
  set(manager, 1);
  runner.request();
  EXPECT_TRUE(runner.take());
}

}  // namespace
}  // namespace leapp
