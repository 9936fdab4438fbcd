#include "state/baked.h"

#include <gmock/gmock.h>

#include "told.h"

namespace leapp::state {
namespace {

using testing::codes;
using ::testing::HasSubstr;
using testing::NodeWriter;
using testing::tape_of;
using Lines = std::vector<std::string>;

TEST(BakedTest, AnEscapeIsSaidWhereItsValueVaries) {
  const struct {
    const char* what;
    Lines lines;
    const char* escaped;
    std::size_t pass;
    bool said;
  } table[] = {
      {"a weight", {"k = neg(w)", "y = mul(x, k)", "return y"}, "k", 0, false},
      {"memory that the pass writes", {"k = neg(m)", "add_(m, x)", "return x"}, "k", 0, true},
      {"what the pass before computed",
       {"k = neg(h)", "h2 = tanh(x)", "h := h2", "return h2"},
       "k",
       1,
       true},
      {"what later passes replace",
       {"k = neg(h)", "h2 = tanh(x)", "h := h2", "return h2"},
       "k",
       0,
       true},
  };
  for (const auto& line : table) {
    NodeWriter writer = tape_of({.passes = 3, .lines = line.lines});
    writer.node.passes[line.pass].escapes = {
        {writer.var(line.escaped, line.pass), {"program.py", -7}, Code::kBranch, "it was read"}};
    const std::vector<WrittenPass> passes = written_in(writer.node);
    const Findings found = find_escapes(
        writer.node, follow({writer.node, passes}, find_written(writer.node, passes[0])));
    EXPECT_EQ(found.size(), line.said ? 1 : 0) << line.what;
    if (found.empty()) continue;
    EXPECT_EQ(found[0].code, Code::kBranch);
    EXPECT_EQ(found[0].where, "program.py:7");
    EXPECT_EQ(found[0].text, "it was read");
  }
}

TEST(BakedTest, AnEscapeOnALineThatOnlyShowsValuesIsNotSaid) {
  NodeWriter writer = tape_of({.lines = {"k = neg(m)", "add_(m, x)", "return x"}});
  writer.node.passes[0].escapes = {
      {writer.var("k"), {"program.py", 7}, Code::kNumber, "it was printed"}};
  const std::vector<WrittenPass> passes = written_in(writer.node);
  const Followed followed = follow({writer.node, passes}, find_written(writer.node, passes[0]));
  trace::set_source_hooks({.only_shown = [](trace::FrameRef) { return true; }});
  const Findings shown = find_escapes(writer.node, followed);
  trace::set_source_hooks({});
  EXPECT_EQ(codes(shown), Lines{});
  EXPECT_EQ(codes(find_escapes(writer.node, followed)), Lines{"LP202"});
}

TEST(BakedTest, AnEscapeIsSaidWhereTheProgramWritesToItsMemoryBetweenPasses) {
  for (const bool written : {false, true}) {
    const auto world = std::make_shared<testing::World>();
    NodeWriter writer(world, {.passes = 1, .lines = {"k = neg(w)", "return x"}});
    at::Tensor& counter = world->tensors.at("w");
    world->captures.before_write(counter);
    if (written) counter.add_(1);
    writer.run();
    writer.node.passes[1].escapes = {
        {writer.var("k", 1), {"program.py", -7}, Code::kBranch, "it was read"}};
    const std::vector<WrittenPass> passes = written_in(writer.node);
    const Findings found = find_escapes(writer.node, follow({writer.node, passes}, {}));
    EXPECT_EQ(codes(found), written ? Lines{"LP201"} : Lines{});
  }
}

TEST(BakedTest, MemoryThatIsWrittenAfterTheLastPassIsSaid) {
  const struct {
    const char* what;
    int passes;
    bool written;
    Lines codes;
  } table[] = {
      {"a weight", 1, false, {}},
      {"a command that is set for the next tick", 1, true, {"LP219"}},
      {"one that is set late", 2, true, {"LP219"}},
  };
  for (const auto& line : table) {
    NodeWriter writer = tape_of({.passes = line.passes, .lines = {"y = mul(x, w)", "return y"}});
    session::MemoryUse& use = writer.node.passes[0].memory.at(0);
    use.before->freeze();  // the value before every write
    if (line.written) use.found.add_(1);
    NodeStates states = {.node = &writer.node};
    EXPECT_EQ(codes(find_undeclared(states, {}, {})), line.codes) << line.what;
    states.differences.emplace_back();  // differing passes show it by themselves
    EXPECT_EQ(codes(find_undeclared(states, {}, {})), Lines{}) << line.what;
  }
}

TEST(BakedTest, WhatAnInputOfAnotherNodeReceivedIsSaid) {
  const auto world = std::make_shared<testing::World>();
  NodeWriter reader(world, {.lines = {"y = mul(x, w)", "return y"}});
  NodeWriter given(world, {.name = "camera", .lines = {"y = neg(x)", "return y"}});
  given.node.inputs = {testing::port("w")};
  Pass& first = given.node.passes[0];
  const at::Tensor w = trace::alias_of(world->tensors.at("w"));
  first.recording.inputs = {{"w", first.recording.tape->add_input(w, given.node.id)}};
  const Node* nodes[] = {&reader.node, &given.node};
  const Findings found = find_undeclared({.node = &reader.node}, nodes, {});
  ASSERT_EQ(codes(found), Lines{"LP208"});
  EXPECT_THAT(found[0].text, HasSubstr("that 'camera/w' received, without declaring it"));
  reader.node.completed = 2;  // the comparison of passes shows if it varies
  EXPECT_EQ(codes(find_undeclared({.node = &reader.node}, nodes, {})), Lines{});
}

class BakedValueTest : public ::testing::Test {
 protected:
  Findings found(const session::BakedValue& value, std::vector<State> states = {}) {
    writer_.node.passes[0].baked = {value};
    const Node other = testing::node_of("camera", 5);
    const Node* nodes[] = {&writer_.node, &other};
    return find_baked({.node = &writer_.node, .states = std::move(states)}, nodes, {});
  }

  NodeWriter writer_ = tape_of({.lines = {"y = mul(x, c)", "z = mul(x, d)", "return y"}});
  const VarId used_ = writer_.var("c");
  const VarId unused_ = writer_.var("d");
};

TEST_F(BakedValueTest, AValueOfAnotherNodeOrADrawIsSaid) {
  const struct {
    session::BakedValue value;
    const char* code;
    const char* text;
  } table[] = {
      {{used_, {}, "aten::randn", {}}, "LP204", "aten::randn drew random numbers that node"},
      {{used_, {}, "", {5, "image"}},
       "LP208",
       "node 'policy' uses a value of node 'camera' (camera/image) without declaring it as an "
       "input"},
      {{used_, {}, "", {5, ""}}, "LP208", "uses a value of node 'camera' without declaring it"},
  };
  for (const auto& line : table) {
    const Findings findings = found(line.value);
    ASSERT_EQ(codes(findings), Lines{line.code});
    EXPECT_THAT(findings[0].text, HasSubstr(line.text));
  }
}

TEST_F(BakedValueTest, AnArrayOfOtherCodeIsRefusedUntilPassesWithOtherInputsAgree) {
  const session::BakedValue value{
      .var = used_, .where = {}, .random = {}, .source = {}, .foreign = session::ForeignValue{}};
  EXPECT_EQ(codes(found(value)), Lines{"LP223"});
  std::vector<Pass>& passes = writer_.node.passes;
  passes.push_back(passes[0]);
  passes[0].inputs = {at::zeros({3})};
  passes[1].inputs = {at::zeros({3})};
  EXPECT_EQ(codes(found(value)), Lines{"LP223"}) << "passes with the same inputs tell nothing";
  passes[1].inputs = {at::ones({3})};
  EXPECT_EQ(codes(found(value)), Lines{});
}

TEST_F(BakedValueTest, AnArrayThatANodeWritesToIsRefusedUnlessItIsDeclared) {
  const session::BakedValue value{.var = used_,
                                  .where = {},
                                  .random = {},
                                  .source = {},
                                  .foreign = session::ForeignValue{.written = true}};
  EXPECT_EQ(codes(found(value)), Lines{"LP224"});
  EXPECT_EQ(codes(found(value, {{.slot = {.before = used_}}})), Lines{"LP224"}) << "found as state";
  writer_.node.passes[0].memory = {{.declared = "mean", .var = used_, .found = {}}};
  EXPECT_EQ(codes(found(value)), Lines{});
}

TEST_F(BakedValueTest, NothingIsSaidOfWhatIsNoConstantOfThePass) {
  EXPECT_EQ(codes(found({unused_, {}, "", {5, "image"}})), Lines{}) << "no output needs it";
  EXPECT_EQ(codes(found({used_, {}, "", {5, "image"}}, {{.slot = {.sites = {{0, 1, -1}}}}})),
            Lines{})
      << "it is read as state";
  EXPECT_EQ(codes(found({used_, {}, "", {5, "image"}}, {{.slot = {.before = used_}}})), Lines{})
      << "its memory is state";
}

}  // namespace
}  // namespace leapp::state
