// Checks of a manager in each tick: values that are not finite, stale inputs, deadlines, times.
#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "leapp/inference_manager.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using namespace leapp::testing;

TEST_F(InferenceManagerTest, FiniteGuardRollsTheStateBack) {
  // Returns y = log(x) in front of the recurrent node: a negative input gives NaN.
  test.node("pre", "log.onnx", {port("x")}, {port("y")})
      .node("policy", "recurrent.onnx", {port("x"), port("h_in")}, {port("y"), port("h_out")})
      .wire("pre/y", "policy/x")
      .feedback("policy/h_out", "policy/h_in")
      .input("pre/x")
      .output("policy/y");
  const auto yaml = test.write();
  for (const FiniteGuard guard : {FiniteGuard{.state = true}, FiniteGuard{.outputs = true}}) {
    InferenceManager manager(yaml, {.finite = guard});
    manager.run_policy({{"pre/x", row({1, 2, 3, 4})}});
    const TensorMap before = manager.state();
    EXPECT_EQ(
        message_of([&] {
          manager.run_policy({{"pre/x", row({1, 2, -3, 4})}});
        }),
        std::string(guard.state ? "policy/h_in" : "policy/y") +
            " contains NaN or infinity. The state keeps its value from before this tick [LP606]");
    EXPECT_EQ(manager.state(), before);
    EXPECT_NO_THROW(manager.run_policy({{"pre/x", row({1, 2, 3, 4})}}));
  }
  InferenceManager guarded(yaml, {.finite = {.inputs = true}});
  EXPECT_THAT(message_of([&] {
                guarded.run_policy({{"pre/x", row({1, 2, NAN, 4})}});
              }),
              ::testing::AllOf(::testing::HasSubstr("pre/x"), ::testing::EndsWith("[LP606]")));
  InferenceManager open(yaml);
  EXPECT_NO_THROW(open.run_policy({{"pre/x", row({1, 2, -3, 4})}}));
}

TEST_F(InferenceManagerTest, StaleInputIsAFailure) {
  add_policy(test);
  InferenceManager manager(test.write(), {.staleness = {{"pre/x", std::chrono::nanoseconds(1)}}});
  const InputPort obs = manager.input_port("pre/x");
  manager.set_input(obs, row({0, 0, 0, 0})).value();
  const auto set = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - set <= std::chrono::nanoseconds(1)) {
  }
  const Result<void> result = manager.tick();
  EXPECT_THAT(result.failure().message(),
              ::testing::AllOf(::testing::HasSubstr("pre/x"), ::testing::EndsWith("[LP605]")));
  EXPECT_THAT(message_of([&] {
                InferenceManager bad(test.write(), {.staleness = {{"pre/z", {}}}});
              }),
              ::testing::AllOf(::testing::HasSubstr("pre/z"), ::testing::EndsWith("[LP619]")));
}

TEST_F(InferenceManagerTest, MissedDeadlinesAreCountedAndReported) {
  add_policy(test);
  std::vector<DeadlineMiss> misses;
  RuntimeOptions options;
  options.deadline = std::chrono::nanoseconds(1);
  options.on_deadline_miss = [&](const DeadlineMiss& miss) { misses.push_back(miss); };
  InferenceManager manager(test.write(), options);
  manager.run_policy(manager.get_mock_input());
  manager.run_policy(manager.get_mock_input());
  ASSERT_EQ(misses.size(), 2u);
  EXPECT_EQ(misses[1].tick, 1u);
  EXPECT_GT(misses[1].took, misses[1].deadline);
  EXPECT_EQ(manager.statistics().deadline_misses, 2u);
}

TEST_F(InferenceManagerTest, LatenciesAreMeasuredOnRequest) {
  add_policy(test);
  InferenceManager manager(test.write(), {.merge = Merge::kOff, .measure = true});
  for (int i = 0; i < 10; ++i) manager.run_policy(manager.get_mock_input());
  const Statistics statistics = manager.statistics();
  EXPECT_EQ(statistics.tick.count, 10u);
  ASSERT_EQ(statistics.nodes.size(), 3u);
  EXPECT_EQ(statistics.nodes[1].first, "policy");
  EXPECT_EQ(statistics.nodes[1].second.count, 10u);
  EXPECT_LE(statistics.nodes[1].second.max, statistics.tick.max);
  manager.reset_statistics();
  EXPECT_EQ(manager.statistics().tick.count, 0u);
}

}  // namespace
}  // namespace leapp
