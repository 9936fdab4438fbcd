#include "state/external_reads.h"

#include <gmock/gmock.h>

#include "told.h"

namespace leapp::state {
namespace {

using testing::NodeWriter;
using testing::numbers;
using testing::tape_of;
using Lines = std::vector<std::string>;

Followed followed(const NodeWriter& writer, std::size_t base = 0) {
  const std::vector<WrittenPass> passes = written_in(writer.node);
  return follow({.node = writer.node, .passes = passes, .base = base},
                find_written(writer.node, passes[base]));
}

// "h: h2": a variable; "h: #1": another external read; "h: x@2": a value of two passes ago; "h: ?":
// not shown by any pass.
std::string told(const NodeWriter& writer, const ExternalRead& external, std::size_t base) {
  std::string text = writer.name(external.initial(), base) + ":";
  if (!external.sources) return text + " ?";
  for (const Source& source : *external.sources) {
    text += source.external >= 0 ? " #" + std::to_string(source.external)
            : source.port.node != kNoId
                ? " " + std::to_string(source.port.node) + "/" + source.port.port
                : " " + writer.name(source.var, base);
    if (source.delay != 1) text += "@" + std::to_string(source.delay);
  }
  return text;
}

Lines told(const NodeWriter& writer, const Followed& all, std::size_t base = 0) {
  Lines lines;
  for (const ExternalRead& external : all.external_reads)
    lines.push_back(told(writer, external, base));
  return lines;
}

TEST(ExternalReadsTest, WhatEveryPassAllowsAsTheSourceOfATrail) {
  const struct {
    const char* what;
    Lines lines;
    Lines sources;
  } table[] = {
      {"a weight", {"y = mul(w, x)", "return y"}, {"w: #0"}},
      {"a weight of which each pass makes a new one, or a queue that is yet to show",
       {"y = mul(w, x)", "w := new", "return y"},
       {"w: ?"}},
      {"a tensor that is replaced", {"h2 = mul(h, x)", "h := h2", "return h2"}, {"h: h2"}},
      {"one that is read twice",
       {"g = mul(h, x)", "h2 = add(h, g)", "h := h2", "return h2"},
       {"h: h2"}},
      {"a queue", {"y = cat(a, b, x)", "a := b", "b := x", "return y"}, {"a: #1", "b: x"}},
      {"a queue of which only the end is read",
       {"y = mul(a, x)", "a := b", "b := x", "return y"},
       {"a: x@2"}},
      {"a swap", {"y = cat(a, b, x)", "a := b", "b := a", "return y"}, {"a: #1", "b: #0"}},
      {"a swap of two buffers, of which one is written before",
       {"add_(a, x)", "y = cat(a, b, x)", "a := b", "b := a", "return y"},
       {"a: #1", "b: a"}},
      {"one that no pass computed", {"y = mul(h, x)", "h := other", "return y"}, {"h: ?"}},
      {"one whose sources do not agree",
       {"a = mul(h, x)", "b = tanh(a)", "1: h := a", "2+: h := b", "return b"},
       {"h:"}},
  };
  for (const auto& line : table) {
    const NodeWriter writer = tape_of({.passes = 5, .lines = line.lines});
    EXPECT_EQ(told(writer, followed(writer)), line.sources) << line.what;
  }
}

TEST(ExternalReadsTest, WhatChangedIsKeptPassByPass) {
  const NodeWriter writer =
      tape_of({.passes = 3, .lines = {"h2 = add(h, x)", "y = mul(h2, w)", "h := h2", "return y"}});
  const Followed all = followed(writer);
  ASSERT_EQ(all.external_reads.size(), 2);
  EXPECT_TRUE(all.external_reads[0].changed);
  EXPECT_EQ(numbers(all.external_reads[0].found), "1 1.5 3");
  EXPECT_FALSE(all.external_reads[1].changed);
  EXPECT_TRUE(all.changes(writer.var("h")));
  EXPECT_FALSE(all.changes(writer.var("w")));
}

TEST(ExternalReadsTest, SitesThatAlwaysReadOneTensorAreOneTrail) {
  const struct {
    const char* what;
    Lines lines;
    std::vector<std::size_t> sites;  // by external read
  } table[] = {
      {"a tensor that is read twice",
       {"g = mul(h, x)", "h2 = add(h, g)", "y = mul(k, h2)", "h := h2", "return y"},
       {2, 1}},
      {"one that later is another in the second and third of three places",
       {"g = mul(h, x)", "f = add(k, g)", "y = add(k, f)", "k := y", "return y"},
       {1, 2}},
  };
  for (const auto& line : table) {
    const auto world = std::make_shared<testing::World>();
    world->tensors["h"] = world->tensors["k"] = at::ones({3});
    const NodeWriter writer(world, {.passes = 3, .lines = line.lines});
    std::vector<std::size_t> sites;
    for (const ExternalRead& external : followed(writer).external_reads)
      sites.push_back(external.sites.size());
    EXPECT_EQ(sites, line.sites) << line.what;
  }
}

TEST(ExternalReadsTest, WrittenMemoryIsContinuedOrRenewedOrStrange) {
  const Lines body = {"add_(m, x)", "y = mul(m, x)", "return y"};
  const struct {
    const char* then;
    const char* found;
  } table[] = {{"m := m", "continued"}, {"m := new", "renewed"}, {"m := other", "strange"}};
  for (const auto& line : table) {
    Lines lines = body;
    lines.emplace_back(line.then);
    const NodeWriter writer = tape_of({.passes = 3, .lines = lines});
    const Followed all = followed(writer);
    ASSERT_EQ(all.external_reads.size(), 1) << line.then;
    EXPECT_EQ(all.external_reads[0].written, writer.var("m")) << line.then;
    const Persistence& memory = all.external_reads[0].memory;
    EXPECT_EQ(memory.continued, line.found == std::string("continued")) << line.then;
    EXPECT_EQ(memory.renewed, line.found == std::string("renewed")) << line.then;
    EXPECT_EQ(memory.strange, line.found == std::string("strange")) << line.then;
  }
}

TEST(ExternalReadsTest, APassExplainsWhatItReadAsLongAsAllRanTheSame) {
  NodeWriter writer =
      tape_of({.passes = 2,
               .lines = {"3: e = tanh(x)", "3: k := e", "h2 = mul(h, x)", "h := h2", "return h2"}});
  const Followed two = followed(writer);
  EXPECT_FALSE(two.apart());
  EXPECT_TRUE(two.passes[0].explains(writer.var("h", 1)));
  EXPECT_FALSE(two.passes[0].explains(writer.var("x", 1)));
  writer.run();
  const Followed three = followed(writer);
  EXPECT_TRUE(three.apart());
  EXPECT_TRUE(three.passes[0].explains(writer.var("h", 1)));
  EXPECT_FALSE(three.passes[1].explains(writer.var("h", 2)));
}

TEST(ExternalReadsTest, AnAddedCallCountsWhereItsResultIsUsedOrKept) {
  const struct {
    const char* what;
    Lines lines;
    bool added;
  } table[] = {
      {"nothing is added", {"y = tanh(x)", "return y"}, false},
      {"its result is dropped", {"2+: e = neg(x)", "y = tanh(x)", "return y"}, false},
      {"its result is kept", {"2+: e = neg(x)", "2+: k := e", "y = tanh(x)", "return y"}, true},
  };
  for (const auto& line : table) {
    const Followed all = followed(tape_of({.passes = 2, .lines = line.lines}));
    EXPECT_EQ(all.passes[0].added_call.has_value(), line.added) << line.what;
    EXPECT_EQ(all.apart(), line.added) << line.what;
  }
}

TEST(ExternalReadsTest, ALaterPassMayBeTheBase) {
  const NodeWriter writer = tape_of(
      {.passes = 4, .lines = {"1: h2 = neg(x)", "2+: h2 = mul(h, x)", "h := h2", "return h2"}});
  const Followed all = followed(writer, 1);
  EXPECT_EQ(told(writer, all, 1), Lines{"h: h2"});
  EXPECT_EQ(all.passes.size(), 2);
}

}  // namespace
}  // namespace leapp::state
