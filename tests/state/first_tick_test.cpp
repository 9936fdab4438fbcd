#include "state/first_tick.h"

#include <gmock/gmock.h>

#include "told.h"

namespace leapp::state {
namespace {

using testing::before;
using testing::kFilter;
using testing::NodeWriter;
using testing::tape_of;
using testing::told;
using Lines = std::vector<std::string>;

std::optional<Carried> first_tick_or_doubt(const NodeWriter& writer) {
  const std::vector<WrittenPass> passes = written_in(writer.node);
  const Node* const nodes[] = {&writer.node};
  const Subject subject = {writer.node, passes, nodes};
  const Carried carried = {.followed = follow(subject, find_written(writer.node, passes[0]))};
  return find_first_tick(subject, compare_passes(subject, carried));
}

// Unambiguous cases.
std::optional<NodeStates> first_tick(const NodeWriter& writer) {
  const auto found = first_tick_or_doubt(writer);
  return found && !found->in_doubt ? std::optional(found->kept) : std::nullopt;
}

TEST(FirstTickTest, TheSecondPassIsExportedAndAFlagChooses) {
  const NodeWriter writer = tape_of({.passes = 3, .lines = kFilter});
  const auto found = first_tick(writer);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->base, 1);
  ASSERT_EQ(told(writer, found->states, 1), (Lines{"carried h <- h2", "flag ? <- constant"}));
  EXPECT_EQ(found->states[1].slot.name, "first_tick");
  EXPECT_EQ(before(found->states[1]), "1 0 0");
  ASSERT_EQ(found->opening.size(), 2);
  EXPECT_EQ(found->opening[0].after, writer.var("h2", 0));
  EXPECT_EQ(testing::numbers({found->opening[0].value}), "0");
  EXPECT_TRUE(found->opening[1].constant.defined());
}

TEST(FirstTickTest, WhatTheFirstPassTookOnceIsKept) {
  const NodeWriter writer =
      tape_of({.passes = 3,
               .lines = {"1: o = neg(x)", "1: y = mul(x, o)", "1: offset := o",
                         "2+: y = mul(x, offset)", "return y"}});
  const auto found = first_tick(writer);
  ASSERT_TRUE(found);
  ASSERT_EQ(told(writer, found->states, 1),
            (Lines{"carried offset <- offset", "flag ? <- constant"}));
  EXPECT_EQ(before(found->states[0]), "0 -0.5 -0.5");
  EXPECT_EQ(found->opening[0].after, writer.var("o", 0));
}

TEST(FirstTickTest, OperatorsOfOtherPlacesAreNotTakenForEachOther) {
  const NodeWriter writer = tape_of(
      {.passes = 3,
       .lines = {"1: h := x", "1: y = mul(x, 2)", "2+: a = mul(h, 0.9)", "2+: b = mul(x, 0.1)",
                 "2+: h2 = add(a, b)", "2+: y = mul(h2, 2)", "2+: h := h2", "return y"}});
  const auto found = first_tick(writer);
  ASSERT_TRUE(found);
  EXPECT_EQ(told(writer, found->states, 1), (Lines{"carried h <- h2", "flag ? <- constant"}));
}

TEST(FirstTickTest, DeclaredStateIsReadInBoth) {
  const NodeWriter writer = tape_of({.passes = 3,
                                     .lines = {"state s", "1: s2 = tanh(x)", "2+: s2 = mul(s, x)",
                                               "update s = s2", "return s2"}});
  const auto found = first_tick(writer);
  ASSERT_TRUE(found);
  EXPECT_EQ(told(writer, found->states, 1), (Lines{"explicit s <- s2", "flag ? <- constant"}));
  EXPECT_EQ(found->opening[0].before, writer.var("s", 0));
}

TEST(FirstTickTest, MemoryIsLeftAsTheFirstPassWroteIt) {
  const NodeWriter writer = tape_of({.passes = 3,
                                     .lines = {"1: y = tanh(x)", "2+: y = neg(x)", "add_(m, x)",
                                               "z = mul(m, x)", "return y", "return z"}});
  const auto found = first_tick(writer);
  ASSERT_TRUE(found);
  EXPECT_EQ(told(writer, found->states, 1), (Lines{"written m <- m", "flag ? <- constant"}));
  EXPECT_EQ(found->opening[0].before, kNoId);
  EXPECT_EQ(found->opening[0].after, writer.var("m", 0));
}

TEST(FirstTickTest, TheFlagTakesANameThatIsFree) {
  NodeWriter writer = tape_of({.passes = 3, .lines = kFilter});
  writer.node.inputs.front().name = "first_tick";
  const auto found = first_tick(writer);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->opening.back().name, "first_tick_1");
}

// Filled with the first observation; each later pass fills one more place.
TEST(FirstTickTest, AQueueTakesAPassMoreThanItHasPlaces) {
  const Lines queue = {"1: y = cat(x, x, x, x)",
                       "1: a := x",
                       "1: b := x",
                       "1: c := x",
                       "2+: y = cat(a, b, c, x)",
                       "2+: a := b",
                       "2+: b := c",
                       "2+: c := x",
                       "return y"};
  for (const int passes : {2, 3, 4, 5}) {
    const auto found = first_tick_or_doubt(tape_of({.passes = passes, .lines = queue}));
    ASSERT_TRUE(found) << passes;
    EXPECT_EQ(found->in_doubt, passes < 5) << passes;
    EXPECT_EQ(found->passes, passes < 3 ? 3 : passes < 5 ? 5 : 0) << passes;
  }
}

TEST(FirstTickTest, WhereItCannotBeTold) {
  const struct {
    const char* what;
    int passes;
    Lines lines;
  } table[] = {
      {"two passes", 2, kFilter},
      {"only a number differs", 3, {"1: y = mul(x, 2)", "2+: y = mul(x, 3)", "return y"}},
      {"later passes differ too",
       4,
       {"1: y = tanh(x)", "2+: y = neg(x)", "4: y = tanh(y)", "return y"}},
      {"a state of the first pass only",
       3,
       {"1: state s", "1: s2 = tanh(x)", "1: update s = s2", "2+: s2 = neg(x)", "return s2"}},
      {"state that comes from nowhere",
       4,
       {"1: y = tanh(x)", "2+: y = mul(h, x)", "h := other", "return y"}},
  };
  for (const auto& line : table) {
    EXPECT_FALSE(first_tick(tape_of({.passes = line.passes, .lines = line.lines}))) << line.what;
  }
  NodeWriter writer = tape_of({.passes = 3, .lines = kFilter});
  writer.node.read_values = true;
  EXPECT_FALSE(first_tick(writer)) << "the program chose by values";
}

// Another node may observe what the first tick leaves.
TEST(FirstTickTest, MemoryOfAnotherNodeHasNoFirstTick) {
  const Lines lines = {"1: y = tanh(x)", "2+: y = neg(x)", "add_(m, x)",
                       "z = mul(m, x)",  "return y",       "return z"};
  const auto found_beside = [&](const Lines& other) {
    const auto world = std::make_shared<testing::World>();
    const NodeWriter writer(world, {.passes = 3, .lines = lines});
    const NodeWriter beside(world, {.name = "other", .passes = 3, .lines = other});
    const std::vector<WrittenPass> passes = written_in(writer.node);
    const Node* const nodes[] = {&writer.node, &beside.node};
    const Subject subject = {writer.node, passes, nodes};
    const Carried carried = {.followed = follow(subject, find_written(writer.node, passes[0]))};
    return find_first_tick(subject, compare_passes(subject, carried)).has_value();
  };
  EXPECT_TRUE(found_beside({"y = mul(w, x)", "return y"}));
  EXPECT_FALSE(found_beside({"y = mul(m, x)", "return y"}));
}

TEST(FirstTickTest, MemoryThatAnotherNodeWroteHasNoFirstTick) {
  for (const bool by_itself : {true, false}) {
    NodeWriter writer = tape_of({.passes = 3,
                                 .lines = {"1: y = tanh(x)", "2+: y = neg(x)", "add_(m, x)",
                                           "z = mul(m, x)", "return y", "return z"}});
    for (Pass& pass : writer.node.passes) {
      pass.memory.at(0).writer = {writer.node.id + (by_itself ? 0 : 1), 0};
    }
    EXPECT_EQ(first_tick_or_doubt(writer).has_value(), by_itself);
  }
}

}  // namespace
}  // namespace leapp::state
