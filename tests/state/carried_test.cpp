#include "state/carried.h"

#include <gmock/gmock.h>

#include "told.h"

namespace leapp::state {
namespace {

using testing::before;
using testing::codes;
using testing::NodeWriter;
using testing::tape_of;
using testing::told;
using testing::World;
using Lines = std::vector<std::string>;

Carried carried(const NodeWriter& writer, std::span<const Node* const> nodes = {}) {
  const std::vector<WrittenPass> passes = written_in(writer.node);
  return find_carried({writer.node, passes, nodes});
}

TEST(CarriedTest, WhatIsCarriedAndHowItIsLeft) {
  const struct {
    const char* what;
    Lines lines;
    Lines states;
  } table[] = {
      {"a weight", {"y = mul(w, x)", "return y"}, {}},
      {"a tensor that is replaced",
       {"h2 = mul(h, x)", "y = tanh(h2)", "h := h2", "return y"},
       {"carried h <- h2"}},
      {"one that takes the input", {"y = mul(h, x)", "h := x", "return y"}, {"carried h <- x"}},
      {"one that no output needs", {"h2 = mul(h, x)", "y = tanh(x)", "h := h2", "return y"}, {}},
      {"one that only a state needs",
       {"g2 = mul(g, x)", "h2 = add(h, g)", "y = mul(h, x)", "g := g2", "h := h2", "return y"},
       {"carried h <- h2", "carried g <- g2"}},
      {"a queue of two",
       {"y = cat(a, b, x)", "a := b", "b := x", "return y"},
       {"carried a <- #1", "carried b <- x"}},
      {"a queue of two of which only the end is read",
       {"y = mul(a, x)", "a := b", "b := x", "return y"},
       {"carried a <- #1", "carried ? <- x"}},
      {"one that takes what two places read",
       {"c = mul(b, x)", "d = add(c, b)", "y = add(d, a)", "a := b", "b := x", "return y"},
       {"carried b <- x", "carried a <- #0"}},
      {"one that takes a constant",
       {"y = add(h, w)", "z = mul(y, x)", "h := w", "return z"},
       {"carried h <- w"}},
      {"a swap of two buffers",
       {"a2 = mul(a, x)", "y = add(a2, b)", "a := b", "b := a", "return y"},
       {"carried a <- #1", "carried b <- #0"}},
      {"a swap of two buffers, of which one is written before",
       {"add_(a, x)", "y = cat(a, b, x)", "a := b", "b := a", "return y"},
       {"carried a <- #1", "carried b <- a"}},
      {"memory that is written", {"add_(m, x)", "y = mul(m, x)", "return y"}, {"written m <- m"}},
      {"memory that is replaced after it is written",
       {"add_(m, x)", "m2 = mul(m, x)", "m := m2", "return m2"},
       {"carried m <- m2"}},
      {"memory that is allocated in every pass",
       {"add_(m, x)", "y = mul(m, x)", "m := new", "return y"},
       {}},
  };
  for (const auto& line : table) {
    const NodeWriter writer = tape_of({.passes = 5, .lines = line.lines});
    const Carried found = carried(writer);
    EXPECT_EQ(told(writer, found.kept.states), line.states) << line.what;
    EXPECT_EQ(codes(found.findings), Lines{}) << line.what;
    EXPECT_FALSE(found.in_doubt) << line.what;
  }
}

TEST(CarriedTest, AStateHasItsValuesAndAChainThoseToCome) {
  const NodeWriter one =
      tape_of({.passes = 3, .lines = {"h2 = add(h, x)", "h := h2", "return h2"}});
  const Carried state = carried(one);
  ASSERT_EQ(state.kept.states.size(), 1);
  EXPECT_EQ(before(state.kept.states[0]), "1 1.5 3");
  EXPECT_EQ(testing::numbers({state.kept.states[0].slot.value}), "1");

  const NodeWriter end =
      tape_of({.passes = 4, .lines = {"y = mul(a, x)", "a := b", "b := x", "return y"}});
  const Carried chain = carried(end);
  ASSERT_EQ(chain.kept.states.size(), 2);
  EXPECT_EQ(before(chain.kept.states[0]), "1 1 0.5 1.5");
  EXPECT_EQ(before(chain.kept.states[1]), "1 0.5 1.5 -");
}

TEST(CarriedTest, SitesOfOneTensorShareAState) {
  const NodeWriter writer =
      tape_of({.passes = 3, .lines = {"g = mul(h, x)", "h2 = add(h, g)", "h := h2", "return h2"}});
  const Carried found = carried(writer);
  ASSERT_EQ(told(writer, found.kept.states), Lines{"carried h <- h2"});
  EXPECT_EQ(found.kept.states[0].slot.sites.size(), 2);
}

TEST(CarriedTest, RenewedMemoryIsNamed) {
  const NodeWriter writer =
      tape_of({.passes = 3, .lines = {"add_(m, x)", "y = mul(m, x)", "m := new", "return y"}});
  EXPECT_EQ(carried(writer).kept.renewed, std::vector<VarId>{writer.var("m")});
}

TEST(CarriedTest, MemoryThatWasLetGoIsScratchAfterASinglePass) {
  const Lines lines = {"add_(h, x)", "y = tanh(h)", "return y"};
  for (const bool let_go : {false, true}) {
    NodeWriter writer = tape_of({.passes = 1, .lines = lines});
    writer.node.passes[0].memory.at(0).let_go = let_go;
    const Carried found = carried(writer);
    EXPECT_EQ(found.kept.states.size(), let_go ? 0U : 1U);
    EXPECT_EQ(found.kept.renewed.size(), let_go ? 1U : 0U);
    EXPECT_EQ(codes(found.findings), let_go ? Lines{"LP303"} : Lines{});
  }
}

TEST(CarriedTest, WhatCannotBeToldIsAFinding) {
  const struct {
    const char* what;
    int passes;
    Lines lines;
    const char* code;
    bool in_doubt;
  } table[] = {
      {"a tensor that no pass computed",
       3,
       {"y = mul(h, x)", "h := other", "return y"},
       "LP302",
       true},
      {"a tensor of varying source",
       3,
       {"a = mul(h, x)", "b = tanh(a)", "1: h := a", "2+: h := b", "return b"},
       "LP302",
       true},
      {"a tensor that may be the first value of a queue",
       2,
       {"y = mul(h, x)", "h := w", "return y"},
       "LP303",
       true},
      {"memory that may be",
       2,
       {"mul_(m, 1)", "y = mul(m, x)", "m := w", "return y"},
       "LP303",
       true},
      {"a written tensor that loses one of its names",
       2,
       {"h2 = add(h, x)", "add_(h, k)", "y = add(h, k)", "h := h2", "k := h2", "return y"},
       "LP302",
       true},
      {"memory that another writes to",
       3,
       {"add_(m, x)", "y = mul(m, x)", "m := other", "return y"},
       "LP304",
       false},
  };
  for (const auto& line : table) {
    const Carried found = carried(tape_of({.passes = line.passes, .lines = line.lines}));
    EXPECT_EQ(codes(found.findings), Lines{line.code}) << line.what;
    EXPECT_EQ(found.in_doubt, line.in_doubt) << line.what;
  }
}

// All passes have the value of the first one.
TEST(CarriedTest, AnotherTensorIsAConstantOnceItStays) {
  for (const int passes : {2, 3, 5}) {
    const NodeWriter writer = tape_of(
        {.passes = passes,
         .lines = {"a = mul(h, x)", "h2 = add(a, flag)", "h := h2", "flag := fixed", "return h2"}});
    const Carried found = carried(writer);
    EXPECT_EQ(codes(found.findings), Lines{"LP303"}) << passes;
    EXPECT_EQ(found.in_doubt, passes == 2) << passes;
    EXPECT_EQ(found.passes, passes == 2 ? 3 : 0) << passes;
    EXPECT_EQ(told(writer, found.kept.states), passes == 2 ? Lines{} : Lines{"carried h <- h2"});
  }
}

TEST(CarriedTest, ATensorHeldFromTheStartIsAmbiguousWhenItWasJustPassedOn) {
  for (const int passes : {2, 3}) {
    const NodeWriter writer = tape_of(
        {.passes = passes, .lines = {"y = add(h, w)", "z = mul(y, x)", "h := w", "return z"}});
    const Carried found = carried(writer);
    EXPECT_EQ(codes(found.findings), passes == 2 ? Lines{"LP303"} : Lines{});
    EXPECT_EQ(told(writer, found.kept.states), Lines{"carried h <- w"});
  }
}

TEST(CarriedTest, ATensorAtTwoPlacesIsAmbiguousUntilAThirdPass) {
  for (const int passes : {2, 3}) {
    const auto world = std::make_shared<World>();
    world->tensors["h"] = world->tensors["k"] = at::ones({3});
    const NodeWriter writer(
        world,
        {.passes = passes, .lines = {"h2 = mul(h, x)", "y = add(h2, k)", "h := h2", "return y"}});
    const Carried found = carried(writer);
    EXPECT_EQ(codes(found.findings), passes == 2 ? Lines{"LP303"} : Lines{});
    EXPECT_EQ(found.kept.states.size(), passes == 2 ? 0 : 1);
  }
}

TEST(CarriedTest, WhatAPassLeftIsNotKnownWhereTheProgramWritesToItSince) {
  for (const bool written : {false, true}) {
    const auto world = std::make_shared<World>();
    NodeWriter writer(world, {.passes = 0, .lines = {"h2 = add(h, x)", "h := h2", "return h2"}});
    for (int tick = 0; tick < 3; ++tick) {
      writer.run();
      if (written) world->tensors.at("h").mul_(2);
    }
    const Carried found = carried(writer);
    ASSERT_EQ(told(writer, found.kept.states), Lines{"carried h <- h2"});
    EXPECT_EQ(before(found.kept.states[0]), written ? "1 3 9" : "1 1.5 3");
    std::vector<at::Tensor> after;
    for (const State::Values& pass : found.kept.states[0].per_pass) after.push_back(pass.after);
    EXPECT_EQ(testing::numbers(after), written ? "- - -" : "1.5 3 -");
  }
}

TEST(CarriedTest, WhatAnotherNodeComputedIsAForgottenInput) {
  const auto world = std::make_shared<World>();
  NodeWriter left(world, {.name = "left",
                          .passes = 0,
                          .lines = {"p2 = add(p, p)", "y = mul(x, p2)", "p := p2", "return y"}});
  NodeWriter right(world, {.name = "right", .passes = 0, .lines = {"y = mul(p, x)", "return y"}});
  for (int tick = 0; tick < 3; ++tick) {
    left.run();
    right.run();
  }
  const Node* nodes[] = {&left.node, &right.node};
  const Carried found = carried(right, nodes);
  ASSERT_EQ(codes(found.findings), Lines{"LP208"});
  EXPECT_NE(found.findings[0].text.find("Add it to the outputs of 'left'"), std::string::npos);
}

TEST(CarriedTest, AnotherNodesOutputIsCarriedFromTheTickBefore) {
  for (const bool reader_first : {true, false}) {
    const auto world = std::make_shared<World>();
    const testing::Program reading = {
        .name = "reader", .passes = 0, .lines = {"y = mul(c, x)", "return y"}};
    const testing::Program writing = {
        .name = "writer", .passes = 0, .lines = {"z = tanh(x)", "c := z", "return z"}};
    NodeWriter first(world, reader_first ? reading : writing);
    NodeWriter second(world, reader_first ? writing : reading);
    for (int tick = 0; tick < 3; ++tick) {
      first.run();
      second.run();
    }
    const Node* nodes[] = {&first.node, &second.node};
    const Carried found = carried(reader_first ? first : second, nodes);
    EXPECT_EQ(codes(found.findings), reader_first ? Lines{} : Lines{"LP305"});
    if (!reader_first) continue;
    ASSERT_EQ(told(first, found.kept.states), Lines{"carried c <- nothing"});
    EXPECT_EQ(found.kept.states[0].fed_by->node, second.node.id);
    EXPECT_EQ(found.kept.states[0].fed_by->output, "z");
  }
}

// The program copies the writer's output to its own buffers: c, and a tick later d.
TEST(CarriedTest, AnotherNodesOutputIsCarriedInBuffersThatTheProgramWrites) {
  const auto world = std::make_shared<World>();
  NodeWriter reader(world, {.passes = 0, .lines = {"k = mul(c, d)", "y = mul(k, x)", "return y"}});
  NodeWriter writer(world, {.passes = 0, .lines = {"z = tanh(x)", "kept := z", "return z"}});
  world->tensors["c"] = at::ones({3});
  world->tensors["d"] = at::ones({3});
  const auto copy = [&](const std::string& to, const std::string& from, int pass) {
    world->captures.before_write(world->tensors.at(to));
    world->tensors.at(to).copy_(world->tensors.at(from));
    if (pass >= 0) world->results.push_back({world->tensors.at(to), {writer.node.id, "z"}, pass});
  };
  for (int tick = 0; tick < 4; ++tick) {
    reader.run();
    writer.run();
    copy("d", "c", tick - 1);
    copy("c", "kept", tick);
  }
  const Node* nodes[] = {&reader.node, &writer.node};
  const Carried found = carried(reader, nodes);
  EXPECT_EQ(codes(found.findings), Lines{});
  ASSERT_EQ(found.kept.states.size(), 3U);  // c, d, and what d will be
  EXPECT_EQ(found.kept.states[0].fed_by, (State::Feed{writer.node.id, "z", {}}));
  EXPECT_EQ(found.kept.states[1].slot.same_as, 2U);
  EXPECT_EQ(found.kept.states[2].fed_by, (State::Feed{writer.node.id, "z", {}}));
}

}  // namespace
}  // namespace leapp::state
