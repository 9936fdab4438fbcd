#include "state/state.h"

#include <gtest/gtest.h>

#include "tape_of.h"

namespace leapp::state {
namespace {

using testing::NodeWriter;
using testing::tape_of;

State named(const std::string& name) {
  return {.slot = {.name = name}};
}

TEST(StateTest, SlotsKeepTheirOrder) {
  const std::vector<StateSlot> slots = slots_of({named("a"), named("b")});
  ASSERT_EQ(slots.size(), 2);
  EXPECT_EQ(slots[0].name, "a");
  EXPECT_EQ(slots[1].name, "b");
}

TEST(StateTest, TheRecordingHasWhatOutputsAndStatesNeed) {
  const NodeWriter writer = tape_of(
      {.passes = 2, .lines = {"1: u = neg(x)", "h2 = mul(h, x)", "y = tanh(x)", "return y"}});
  NodeStates states = {.node = &writer.node};
  EXPECT_EQ(recording_of(states).calls, std::vector<std::int32_t>{2});
  states.states.push_back({.slot = {.after = writer.var("h2")}});
  EXPECT_EQ(recording_of(states).calls, (std::vector<std::int32_t>{1, 2}));
  states.base = 1;
  states.states.front().slot.after = writer.var("h2", 1);
  EXPECT_EQ(recording_of(states).calls, (std::vector<std::int32_t>{0, 1}));
}

TEST(StateTest, ANameIsTakenByPortsAndStates) {
  Node node;
  node.inputs = {testing::port("in")};
  node.outputs = {testing::port("out")};
  node.states = {testing::port("declared")};
  const std::vector<State> states = {named("h"), named("h_1")};
  const struct {
    const char* wish;
    const char* name;
  } table[] = {{"free", "free"},           {"in", "in_1"},  {"out", "out_1"}, {"h", "h_2"},
               {"declared", "declared_1"}, {"h_1", "h_1_1"}};
  for (const auto& line : table) {
    EXPECT_EQ(unused_name(node, states, line.wish), line.name);
  }
}

}  // namespace
}  // namespace leapp::state
