#include "controller/tick_state.h"

#include <cmath>

#include "step_bench.h"

namespace leapp {
namespace {

using testing::StepBench;

TEST(TickState, HasMemoryForThePlan) {
  StepBench bench;
  bench.build();
  const TickState state(bench.plan);
  ASSERT_EQ(state.inputs.size(), 1U);
  EXPECT_EQ(state.inputs[0].values.size(), 1U);
  ASSERT_EQ(state.outputs.size(), 1U);
  EXPECT_EQ(state.outputs[0].sent.size(), 1U);
  EXPECT_EQ(make_sensors(bench.plan)[0].values.size(), 1U);
  EXPECT_EQ(make_actuators(bench.plan)[0].size(), 1U);
}

TEST(TickState, RestartKeepsNothing) {
  StepBench bench;
  bench.build();
  bench.measure(1);
  bench.tick(2);
  bench.tick(2);
  TickState& state = *bench.state;
  EXPECT_EQ(state.tick, 2U);
  EXPECT_TRUE(state.sensors[0].measured);
  EXPECT_TRUE(state.outputs[0].has_sent);
  state.restart();
  EXPECT_EQ(state.tick, 0U);
  EXPECT_EQ(state.state, ControllerState::kWaiting);
  EXPECT_FALSE(state.sensors[0].measured);
  EXPECT_FALSE(state.outputs[0].has_sent);
  EXPECT_FALSE(state.has_targets);
  EXPECT_TRUE(std::isnan(state.inputs[0].previous[0]));
  EXPECT_EQ(state.log.total(), 0U);
}

}  // namespace
}  // namespace leapp
