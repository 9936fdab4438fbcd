// Tests of new tensors in memory that a tape already knows.
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "tape_writer.h"
#include "trace/tape.h"

namespace leapp::trace {
namespace {

class TapeAliasTest : public ::testing::Test {
 protected:
  testing::TapeWriter writer_;
  Tape& tape_ = *writer_.tape;
};

TEST_F(TapeAliasTest, AnotherObjectOverTheSameMemoryIsKnownByItsStorage) {
  const at::Tensor x = at::ones({2, 3});
  const VarId var = tape_.add_input(x, 0);
  const auto view = tape_.find(x.view({6}));
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(tape_.variable(*view).store, tape_.variable(var).store);
}

TEST_F(TapeAliasTest, APartThatWasMetFirstIsAViewOfTheWhole) {
  const at::Tensor whole = at::ones({2, 4});
  const at::Tensor part = whole.slice(1, 0, 2);
  const VarId part_var = tape_.use(part);
  EXPECT_EQ(tape_.variable(part_var).origin, Variable::Origin::kOutside);
  const VarId whole_var = tape_.use(whole);
  EXPECT_EQ(tape_.variable(whole_var).origin, Variable::Origin::kOutside);
  EXPECT_EQ(tape_.variable(part_var).origin, Variable::Origin::kResult);
  EXPECT_EQ(tape_.call(tape_.variable(part_var).call).kind, Call::Kind::kPart);
  EXPECT_EQ(tape_.store(tape_.variable(part_var).store).variables.front(), whole_var);
  EXPECT_EQ(tape_.find(part), part_var);
}

TEST_F(TapeAliasTest, PartsOfOneTensorAreViewsOfIt) {
  const at::Tensor whole = at::ones({2, 4});
  const VarId left = tape_.use(whole.slice(1, 0, 2));
  const VarId right = tape_.use(whole.slice(1, 2, 4));
  const auto known = tape_.find(whole);
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(tape_.variable(*known).origin, Variable::Origin::kOutside);
  for (const VarId part : {left, right}) {
    EXPECT_EQ(tape_.args_of(tape_.call(tape_.variable(part).call))[0].var, *known);
  }
}

TEST_F(TapeAliasTest, AnotherStorageOverMoreOfTheSameBytesIsATensorOfItsOwn) {
  const at::Tensor memory = at::ones({4});
  const at::Tensor part = at::from_blob(memory.data_ptr<float>(), {2}, at::kFloat);
  const at::Tensor whole = at::from_blob(memory.data_ptr<float>(), {4}, at::kFloat);
  const VarId first = tape_.use(part);
  const VarId second = tape_.use(whole);
  EXPECT_EQ(tape_.variable(second).origin, Variable::Origin::kOutside);
  EXPECT_NE(tape_.variable(second).store, tape_.variable(first).store);
  EXPECT_EQ(tape_.content(second).numel(), 4);
}

TEST_F(TapeAliasTest, AnEmptyViewBeginsNowhere) {
  const at::Tensor whole = at::ones({4});
  tape_.use(whole);
  const VarId empty = tape_.use(whole.slice(0, 4));
  EXPECT_EQ(tape_.args_of(tape_.call(tape_.variable(empty).call))[3].value.toInt(), 0);
}

}  // namespace
}  // namespace leapp::trace
