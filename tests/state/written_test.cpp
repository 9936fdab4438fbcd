#include "state/written.h"

#include <gmock/gmock.h>

#include "told.h"

namespace leapp::state {
namespace {

using testing::before;
using testing::NodeWriter;
using testing::numbers;
using testing::tape_of;
using testing::told;
using Lines = std::vector<std::string>;

TEST(WrittenTest, WhatAPassWritesIsState) {
  const struct {
    const char* what;
    Lines lines;
    Lines states;
  } table[] = {
      {"a weight", {"y = mul(w, x)", "return y"}, {}},
      {"memory", {"add_(m, x)", "y = mul(m, x)", "return y"}, {"written m <- m"}},
      {"memory that no output needs", {"add_(m, x)", "y = tanh(x)", "return y"}, {}},
      {"memory that written memory needs",
       {"add_(n, x)", "add_(m, n)", "y = mul(m, x)", "return y"},
       {"written n <- n", "written m <- m"}},
      {"an output", {"y = tanh(x)", "add_(y, x)", "return y"}, {}},
      {"an explicit state",
       {"state s", "s2 = mul(s, x)", "update s = s2", "return s2"},
       {"explicit s <- s2"}},
      {"one without an update", {"state s", "y = mul(s, x)", "return y"}, {}},
      {"a buffer that is written", {"buffer b", "add_(b, x)", "return x"}, {"declared b <- b"}},
      {"a buffer that is assigned to",
       {"buffer b", "b2 = mul(b, x)", "b := b2", "return b2"},
       {"declared b <- b2"}},
      {"a buffer that is read", {"buffer b", "y = mul(b, x)", "return y"}, {}},
      {"all kinds, in this order",
       {"add_(m, x)", "buffer b", "add_(b, x)", "state s", "s2 = mul(s, m)", "update s = s2",
        "return s2"},
       {"explicit s <- s2", "declared b <- b", "written m <- m"}},
  };
  for (const auto& line : table) {
    const NodeWriter writer = tape_of({.lines = line.lines});
    EXPECT_EQ(told(writer, written_in(writer.node.passes[0]).states), line.states) << line.what;
  }
}

TEST(WrittenTest, TheCallsAreThoseThatComputeOutputsAndStates) {
  const NodeWriter writer =
      tape_of({.lines = {"u = tanh(x)", "add_(m, x)", "y = mul(m, x)", "return y"}});
  EXPECT_EQ(written_in(writer.node.passes[0]).calls, (std::vector<std::int32_t>{1, 2}));
}

TEST(WrittenTest, EachPassHasItsValues) {
  const struct {
    const char* what;
    Lines lines;
    const char* before;
    const char* after;
  } table[] = {
      {"memory", {"add_(m, x)", "y = mul(m, x)", "return y"}, "1 1.5 3", "1.5 3 5.5"},
      {"a buffer", {"buffer b", "add_(b, x)", "return x"}, "1 1.5 3", "1.5 3 5.5"},
      {"an explicit state",
       {"state s", "s2 = add(s, x)", "update s = s2", "return s2"},
       "1 1.5 3",
       "1.5 3 5.5"},
      {"memory that the second pass leaves alone",
       {"1: add_(m, x)", "3: add_(m, x)", "y = mul(m, x)", "return y"},
       "1 1.5 1.5",
       "1.5 1.5 4"},
  };
  for (const auto& line : table) {
    const NodeWriter writer = tape_of({.passes = 3, .lines = line.lines});
    const std::vector<State> states = find_written(writer.node, written_in(writer.node.passes[0]));
    ASSERT_EQ(states.size(), 1) << line.what;
    EXPECT_EQ(before(states[0]), line.before) << line.what;
    std::vector<at::Tensor> after;
    for (const State::Values& values : states[0].per_pass) after.push_back(values.after);
    EXPECT_EQ(numbers(after), line.after) << line.what;
  }
}

TEST(WrittenTest, FoundMemoryIsToldByWhereItIs) {
  const NodeWriter writer =
      tape_of({.passes = 2,
               .lines = {"add_(m, x)", "add_(n, m)", "z = add(m, n)", "return z", "m := new"}});
  const std::vector<State> states = find_written(writer.node, written_in(writer.node.passes[0]));
  ASSERT_EQ(told(writer, states), (Lines{"written m <- m", "written n <- n"}));
  EXPECT_EQ(before(states[0]), "1 -");  // a different one
  EXPECT_EQ(before(states[1]), "1 2.5");
}

TEST(WrittenTest, MemoryIsScratchOnlyIfNothingElseUsesIt) {
  NodeWriter once = tape_of({.lines = {"add_(m, x)", "return x"}});
  session::MemoryUse& use = once.node.passes[0].memory.at(0);
  EXPECT_FALSE(is_scratch(once.node, once.var("m")));
  use.let_go = true;
  EXPECT_TRUE(is_scratch(once.node, once.var("m")));
  EXPECT_FALSE(is_scratch(once.node, kNoId));
  use.writer = {once.node.id + 1, 0};
  EXPECT_FALSE(is_scratch(once.node, once.var("m"))) << "another node left its value there";
  NodeWriter twice = tape_of({.passes = 2, .lines = {"add_(m, x)", "return x"}});
  twice.node.passes[0].memory.at(0).let_go = true;
  EXPECT_FALSE(is_scratch(twice.node, twice.var("m"))) << "the second pass found it again";
}

// Memory that is needed because of a state of another origin.
class MoreWrittenTest : public ::testing::Test {
 protected:
  MoreWrittenTest() {
    State carried = {.origin = State::Origin::kCarried};
    carried.slot.after = writer_.var("h2");
    states_ = {.node = &writer_.node, .states = {carried}};
  }

  const NodeWriter writer_ =
      tape_of({.passes = 2, .lines = {"add_(m, x)", "h2 = mul(m, x)", "y = tanh(x)", "return y"}});
  NodeStates states_;
};

TEST_F(MoreWrittenTest, ItIsFoundOnceWithItsValues) {
  const std::vector<State> more = more_written(states_);
  ASSERT_EQ(told(writer_, more), (Lines{"written m <- m"}));
  EXPECT_EQ(before(more[0]), "1 1.5");
  states_.states.push_back(more[0]);
  EXPECT_TRUE(more_written(states_).empty());
}

TEST_F(MoreWrittenTest, ItIsNoneWhereItIsMadeAnew) {
  states_.renewed = {writer_.var("m")};
  EXPECT_TRUE(more_written(states_).empty());
}

}  // namespace
}  // namespace leapp::state
