#include "state/infer.h"

#include <gmock/gmock.h>

#include "leapp/error.h"
#include "told.h"

namespace leapp::state {
namespace {

using testing::codes;
using ::testing::HasSubstr;
using testing::kFilter;
using testing::NodeWriter;
using testing::tape_of;
using testing::told;
using Lines = std::vector<std::string>;

Inference infer(const NodeWriter& writer, const Paths& paths = {}) {
  const Node* nodes[] = {&writer.node};
  return infer_states(nodes, nodes, paths);
}

TEST(InferTest, WhatIsFoundAndWhatIsSaid) {
  const struct {
    const char* what;
    Lines lines;
    Lines states;
    Lines codes;
  } table[] = {
      {"no state", {"y = tanh(x)", "return y"}, {}, {}},
      {"memory", {"add_(m, x)", "y = mul(m, x)", "return y"}, {"written m <- m"}, {}},
      {"a carried tensor", {"h2 = mul(h, x)", "h := h2", "return h2"}, {"carried h <- h2"}, {}},
      {"memory that a carried tensor needs",
       {"add_(m, x)", "h2 = mul(m, x)", "y = mul(h, x)", "h := h2", "return y"},
       {"written m <- m", "carried h <- h2"},
       {}},
      {"memory that a carried tensor needs, and that each pass replaces",
       {"add_(m, x)", "h2 = mul(m, x)", "y = mul(h, x)", "h := h2", "z = zeros_like(x)", "m := z",
        "return y"},
       {"carried m <- z", "carried h <- h2"},
       {}},
      {"a different first tick", kFilter, {"carried h <- h2", "flag ? <- constant"}, {"LP308"}},
      {"passes that differ", {"1: y = mul(x, 2)", "2+: y = mul(x, 3)", "return y"}, {}, {"LP301"}},
      {"a number that each pass changes",
       {"1: y = mul(x, 2)", "2: y = mul(x, 3)", "3+: y = mul(x, 4)", "return y"},
       {},
       {"LP301"}},
  };
  for (const auto& line : table) {
    const NodeWriter writer = tape_of({.passes = 4, .lines = line.lines});
    const Inference found = infer(writer);
    ASSERT_EQ(found.nodes.size(), 1) << line.what;
    EXPECT_EQ(told(writer, found.nodes[0].states, found.nodes[0].base), line.states) << line.what;
    EXPECT_EQ(codes(found.findings), line.codes) << line.what;
  }
}

TEST(InferTest, StatesAreNamedAfterTheirPath) {
  const NodeWriter writer =
      tape_of({.passes = 3,
               .lines = {"h2 = mul(h, x)", "add_(m, h2)", "y = mul(m, x)", "h := h2", "return y"}});
  const struct {
    const char* path;
    Lines names;
  } table[] = {
      {"", {"state_0", "state_1"}},
      {"self.hidden", {"hidden", "hidden_1"}},
      {"self.x", {"x_1", "x_2"}},  // the input has this name
  };
  for (const auto& line : table) {
    const Inference found =
        infer(writer, [&](const at::Tensor&) { return std::string(line.path); });
    Lines names;
    for (const State& state : found.nodes[0].states) names.push_back(state.slot.name);
    EXPECT_EQ(names, line.names);
  }
}

TEST(InferTest, TheOpeningHasTheNamesOfTheStates) {
  const NodeWriter writer = tape_of({.passes = 3, .lines = kFilter});
  const Inference found = infer(writer);
  ASSERT_EQ(found.nodes[0].opening.size(), 2);
  EXPECT_EQ(found.nodes[0].opening[0].name, "state_0");
  EXPECT_EQ(found.nodes[0].opening[1].name, "first_tick");
}

TEST(InferTest, AnUndecidedOutputHasToDependOnState) {
  const struct {
    const char* what;
    int passes;
    Lines lines;
    const char* error;  // "": none
  } table[] = {
      {"it does", 2, {"y = neg(h)", "h2 = mul(h, x)", "h := h2", "return y", "return h2"}, ""},
      {"on memory", 1, {"y = neg(m)", "add_(m, x)", "return y"}, ""},
      {"one pass does not show it",
       1,
       {"y = neg(h)", "h2 = mul(h, x)", "h := h2", "return y", "return h2"},
       "'y' does not depend on the node's inputs. Compute it from the result of input_tensors(), "
       "or declare a constant as a static output. If it is state, trace a second pass."},
      {"a constant", 2, {"y = neg(w)", "return y"}, "declare a constant as a static output."},
  };
  for (const auto& line : table) {
    NodeWriter writer = tape_of({.passes = line.passes, .lines = line.lines});
    writer.node.undecided = {"y"};
    std::string said;
    try {
      infer(writer);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kNotTraced) << line.what;
      said = error.what();
    }
    EXPECT_EQ(said.empty(), line.error[0] == 0) << line.what;
    EXPECT_THAT(said, HasSubstr(line.error)) << line.what;
  }
}

TEST(InferTest, AskingTwiceGivesTheSameAnswer) {
  const Lines table[] = {
      kFilter,
      {"add_(m, x)", "m2 = mul(m, x)", "m := m2", "return m2"},
      {"y = cat(a, b, x)", "a := b", "b := x", "return y"},
      {"y = mul(h, x)", "h := other", "return y"},
  };
  for (const Lines& lines : table) {
    const NodeWriter writer = tape_of({.passes = 4, .lines = lines});
    const std::size_t calls = writer.node.passes[0].tape().calls().size();
    const std::size_t variables = writer.node.passes[0].tape().variable_count();
    const Inference once = infer(writer);
    const Inference again = infer(writer);
    EXPECT_EQ(once.findings, again.findings);
    const NodeStates& one = once.nodes[0];
    const NodeStates& two = again.nodes[0];
    EXPECT_EQ(told(writer, one.states, one.base), told(writer, two.states, two.base));
    ASSERT_EQ(one.states.size(), two.states.size());
    for (std::size_t i = 0; i < one.states.size(); ++i) {
      EXPECT_EQ(testing::before(one.states[i]), testing::before(two.states[i]));
    }
    EXPECT_EQ(writer.node.passes[0].tape().calls().size(), calls);
    EXPECT_EQ(writer.node.passes[0].tape().variable_count(), variables);
  }
}

}  // namespace
}  // namespace leapp::state
