// Tests of the values that a pass depends on, with small tapes.
#include "trace/recording.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "tape_writer.h"

namespace leapp::trace {
namespace {

using Calls = std::vector<std::int32_t>;

// 0: zero_(scratch)      1: a = x * scratch   2: unused = a * a   3: row = a[0]
// 4: row.add_(weight)    5: y = a * x         6: z = weight * weight
class RecordingTest : public ::testing::Test {
 protected:
  RecordingTest() {
    writer_.input(x_);
    writer_.zero(scratch_);
    a_ = writer_.mul(x_, scratch_);
    unused_ = writer_.mul(a_, a_);
    row_ = writer_.call("aten::select", "int", {a_, 0, 0});
    writer_.add_in_place(row_, weight_);
    y_ = writer_.mul(a_, x_);
    z_ = writer_.mul(weight_, weight_);
  }
  VarId var(const at::Tensor& tensor) { return writer_.var(tensor); }

  testing::TapeWriter writer_;
  const at::Tensor x_ = at::ones({2, 2});
  const at::Tensor scratch_ = at::ones({2, 2});
  const at::Tensor weight_ = at::ones({2});
  at::Tensor a_, unused_, row_, y_, z_;
};

TEST_F(RecordingTest, ASliceHasProducersAndWritesToMemoryThatIsRead) {
  const struct {
    const char* roots;
    std::vector<VarId> vars;
    Calls calls;
  } table[] = {
      {"y, of a that was written through a view", {var(y_)}, {0, 1, 3, 4, 5}},
      {"z", {var(z_)}, {6}},
      {"y and z", {var(y_), var(z_)}, {0, 1, 3, 4, 5, 6}},
      {"scratch", {var(scratch_)}, {0}},
      {"an input", {var(x_)}, {}},
      {"nothing", {}, {}},
  };
  for (const auto& line : table)
    EXPECT_EQ(slice(*writer_.tape, line.vars), line.calls) << line.roots;
}

TEST(OutsideTest, AnAliasOfMemoryThatTheTapeMadeIsNotFromOutside) {
  testing::TapeWriter writer;
  const at::Tensor weight = at::ones({4});
  const at::Tensor made = writer.mul(weight, weight);
  const VarId of_weight = writer.tape->use(weight.slice(0, 1, 3));
  const VarId of_made = writer.tape->use(made.slice(0, 1, 3));
  EXPECT_TRUE(is_from_outside(*writer.tape, of_weight));
  EXPECT_FALSE(is_from_outside(*writer.tape, of_made));
}

TEST_F(RecordingTest, WhatAPassComputedIsKnownOnOtherTapes) {
  testing::TapeWriter other;
  Recording pass;
  pass.tape = writer_.tape;
  EXPECT_TRUE(is_computed_in(pass, *other.tape, other.tape->use(y_)));
  EXPECT_FALSE(is_computed_in(pass, *other.tape, other.tape->use(weight_)));
  EXPECT_FALSE(is_computed_in(pass, *other.tape, other.tape->use(at::ones({2}))));
}

TEST_F(RecordingTest, AResultThatIsWrittenToLaterIsRewritten) {
  const auto is_rewritten = [&](const at::Tensor& tensor) {
    return writer_.tape->match(tensor.unsafeGetTensorImpl(), tensor).rewritten;
  };
  EXPECT_FALSE(is_rewritten(y_));
  y_.add_(1);
  EXPECT_TRUE(is_rewritten(y_));
  weight_.add_(1);
  EXPECT_FALSE(is_rewritten(weight_));  // no result
}

// A part, a larger part, and the whole. Each is a view of the next one, which was recorded later.
TEST(SliceTest, WhatAPartIsOfRunsFirst) {
  testing::TapeWriter writer;
  const at::Tensor whole = at::ones({8});
  const at::Tensor larger = whole.slice(0, 0, 6);
  const at::Tensor part = whole.slice(0, 2, 4);
  writer.input(part.clone());
  const at::Tensor y = writer.mul(part, part);      // 0
  const at::Tensor z = writer.mul(larger, larger);  // 1: part, of larger; 2
  const at::Tensor all = writer.mul(whole, whole);  // 3: larger, of whole; 4
  EXPECT_EQ(slice(*writer.tape, {writer.var(y)}), (Calls{3, 1, 0}));
  EXPECT_EQ(slice(*writer.tape, {writer.var(z)}), (Calls{3, 2}));
  EXPECT_EQ(slice(*writer.tape, {writer.var(all)}), (Calls{4}));
}

TEST_F(RecordingTest, DependenciesGoThroughCallsAndMemory) {
  const struct {
    const char* question;
    const at::Tensor& of;
    const at::Tensor& on;
    bool depends;
  } table[] = {
      {"y on x", y_, x_, true},      {"y on weight, through a view", y_, weight_, true},
      {"y on itself", y_, y_, true}, {"y on unused", y_, unused_, false},
      {"z on x", z_, x_, false},     {"x on y", x_, y_, false},
  };
  for (const auto& line : table) {
    const VarId wanted = var(line.on);
    EXPECT_EQ(depends_on(*writer_.tape, var(line.of), [&](VarId id) { return id == wanted; }),
              line.depends)
        << line.question;
  }
  EXPECT_TRUE(depends_on_inputs(*writer_.tape, var(y_)));
  EXPECT_TRUE(depends_on_inputs(*writer_.tape, var(x_)));
  EXPECT_FALSE(depends_on_inputs(*writer_.tape, var(z_)));
}

TEST_F(RecordingTest, MemoryFromOutsideIsKnownByItsFirstVariable) {
  const Tape& tape = *writer_.tape;
  const at::Tensor part = writer_.call("aten::select", "int", {weight_, 0, 0});
  EXPECT_EQ(root_outside(tape, var(part)), var(weight_));
  EXPECT_TRUE(tape.same_memory(var(part), var(weight_)));
  EXPECT_FALSE(tape.same_memory(var(a_), var(weight_)));
  for (const at::Tensor& other : {x_, a_, row_}) {
    EXPECT_EQ(root_outside(tape, var(other)), kNoId);
  }
  const at::Tensor drawn = at::ones({2});
  EXPECT_EQ(root_outside(tape, writer_.tape->add_outside(drawn, true)), kNoId);  // new here
}

TEST_F(RecordingTest, CallsOfOtherNodesAreNoneOfAPass) {
  Recording recording;
  recording.tape = writer_.tape;
  recording.first_call = 1;
  recording.end_call = writer_.tape->call_count();
  EXPECT_EQ(own_calls(recording, 0), (Calls{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(own_calls(recording, 1), Calls{6});  // it reads no value of a node
}

TEST_F(RecordingTest, VisitsTheTensorsOfACall) {
  std::vector<VarId> seen;
  for_each_variable(*writer_.tape, writer_.tape->calls()[4], [&](VarId id) { seen.push_back(id); });
  EXPECT_EQ(seen, (std::vector<VarId>{var(row_), var(weight_)}));
}

}  // namespace
}  // namespace leapp::trace
