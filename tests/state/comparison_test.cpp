#include "state/comparison.h"

#include <gmock/gmock.h>

#include "told.h"

namespace leapp::state {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::NodeWriter;
using ::testing::Not;
using ::testing::SizeIs;
using testing::tape_of;
using Lines = std::vector<std::string>;

std::vector<Difference> differences(const NodeWriter& writer, std::size_t base = 0) {
  const std::vector<WrittenPass> passes = written_in(writer.node);
  const Subject subject = {.node = writer.node, .passes = passes, .base = base};
  return compare_passes(subject,
                        {.followed = follow(subject, find_written(writer.node, subject.first()))});
}

TEST(ComparisonTest, PassesThatDoTheSame) {
  const Lines table[] = {
      {"y = mul(x, 2)", "return y"},
      {"y = mul(x, w)", "return y"},
      {"y = mul(x, w)", "w := new", "return y"},
      {"h2 = mul(h, x)", "h := h2", "return h2"},
      {"add_(m, x)", "y = mul(m, x)", "return y"},
      {"copy_(m, x)", "y = mul(m, x)", "m := other", "return y"},
      {"1: k = mul(w, w)", "1: c := k", "y = tanh(x)", "return y"},  // a constant, created once
  };
  for (const Lines& lines : table) {
    EXPECT_THAT(differences(tape_of({.passes = 3, .lines = lines})), IsEmpty()) << lines.front();
  }
}

TEST(ComparisonTest, WhatComputesAStateCounts) {
  const NodeWriter writer = tape_of(
      {.passes = 2,
       .lines = {"y = mul(h, x)", "1: h2 = neg(x)", "2+: h2 = tanh(x)", "h := h2", "return y"}});
  const std::vector<WrittenPass> passes = written_in(writer.node);
  const Subject subject = {writer.node, passes};
  const auto says = [&](const std::vector<State>& states) {
    std::string all;
    for (const Difference& each :
         compare_passes(subject, {.kept = {.states = states}, .followed = follow(subject, {})})) {
      all += each.text;
    }
    return all;
  };
  EXPECT_THAT(says({}), Not(HasSubstr("aten::neg")));
  const State state = {.origin = State::Origin::kCarried, .slot = {.after = writer.var("h2")}};
  EXPECT_THAT(says({state}), HasSubstr("aten::neg did not run, which ran before"));
}

TEST(ComparisonTest, WhatDiffersIsSaidOnce) {
  const struct {
    const char* what;
    Lines lines;
    const char* text;
    bool constant;
  } table[] = {
      {"another operator",
       {"1: y = tanh(x)", "2+: y = neg(x)", "return y"},
       "control flow changed: aten::neg ran instead of aten::tanh",
       false},
      {"an operator more",
       {"y = tanh(x)", "2+: y = neg(y)", "return y"},
       "control flow changed: aten::neg ran, which did not run before",
       false},
      {"an operator less",
       {"y = tanh(x)", "1: y = neg(y)", "return y"},
       "control flow changed: aten::neg did not run, which ran before",
       false},
      {"another number",
       {"1: y = mul(x, 2)", "2+: y = mul(x, 3)", "return y"},
       "aten::mul got other=3., which was 2. before. A number that changes must be an input",
       true},
      {"another constant",
       {"y = mul(x, w)", "1: w := other", "return y"},
       "a tensor from outside the node that aten::mul reads (its argument 'other') changed",
       true},
      {"more tensors in a list",
       {"1: y = cat(x, w)", "2+: y = cat(x, w, w)", "return y"},
       "aten::cat got 3 tensors for tensors; in the first pass it got 2 tensors",
       false},
      {"a tensor where a value was computed",
       {"t = tanh(x)", "1: g = mul(x, t)", "1: k := t", "2+: g = mul(x, k)", "y = add(g, t)",
        "return y"},
       "aten::mul reads a tensor from outside the node, but the first pass read a value that it "
       "had",
       false},
  };
  for (const auto& line : table) {
    const std::vector<Difference> found = differences(tape_of({.passes = 3, .lines = line.lines}));
    ASSERT_FALSE(found.empty()) << line.what;
    EXPECT_THAT(found, SizeIs(1)) << line.what << ": " << found.back().text;
    EXPECT_THAT(found[0].text, HasSubstr(line.text)) << line.what;
    EXPECT_THAT(found[0].text, HasSubstr("(pass 2 of node 'policy' against the first pass)"));
    EXPECT_EQ(found[0].constant, line.constant) << line.what;
    EXPECT_NE(found[0].where.code, nullptr) << line.what;
  }
}

TEST(ComparisonTest, AnOperatorThatRanComesBeforeAConstant) {
  const std::vector<Difference> found = differences(tape_of(
      {.passes = 2, .lines = {"y = mul(x, w)", "w := other", "2: y = tanh(y)", "return y"}}));
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(found[0].text, HasSubstr("aten::tanh ran, which did not run before"));
  EXPECT_THAT(found[1].text, HasSubstr("a tensor from outside the node that aten::mul reads"));
}

TEST(ComparisonTest, AnOperatorOfAnotherPlaceIsAnotherOne) {
  const std::vector<Difference> found =
      differences(tape_of({.passes = 2,
                           .lines = {"1: y = mul(x, 2)", "2: k = tanh(w)", "2: g = mul(x, 3)",
                                     "2: y = tanh(g)", "return y"}}));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].text,
              HasSubstr("control flow changed: aten::mul.Scalar ran instead of that of"));
  EXPECT_FALSE(found[0].constant);
}

TEST(ComparisonTest, ALaterPassMayBeTheBase) {
  const NodeWriter writer = tape_of(
      {.passes = 4, .lines = {"1: y = neg(x)", "2+: y = mul(x, 2)", "4: y = tanh(y)", "return y"}});
  const std::vector<Difference> found = differences(writer, 1);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].text, HasSubstr("aten::tanh ran, which did not run before"));
  EXPECT_THAT(found[0].text, HasSubstr("(pass 4 of node 'policy' against the second pass)"));
}

}  // namespace
}  // namespace leapp::state
