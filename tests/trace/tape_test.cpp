// How a tape recognises tensors.
#include "trace/tape.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "tape_writer.h"

namespace leapp::trace {
namespace {

class TapeTest : public ::testing::Test {
 protected:
  at::Tensor mul(const at::Tensor& a, const at::Tensor& b) { return writer_.mul(a, b); }

  testing::TapeWriter writer_;
  Tape& tape_ = *writer_.tape;
};

TEST_F(TapeTest, ATensorIsKnownByItself) {
  const at::Tensor x = at::ones({2});
  const VarId var = tape_.add_input(x, 0);
  EXPECT_EQ(tape_.find(x), var);
  EXPECT_FALSE(tape_.find(at::ones({2})).has_value());
}

TEST_F(TapeTest, AnotherObjectOverTheSameMemoryIsKnownByItsStorage) {
  const at::Tensor x = at::ones({2, 3});
  const VarId var = tape_.add_input(x, 0);
  const auto view = tape_.find(x.view({6}));
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(tape_.variable(*view).store, tape_.variable(var).store);
}

TEST_F(TapeTest, MemoryLentToAnotherLibraryIsKnownByItsAddress) {
  const at::Tensor x = at::ones({4});
  const VarId var = tape_.add_input(x, 0);
  const at::Tensor lent = at::from_blob(x.data_ptr<float>() + 1, {2}, at::kFloat);
  const auto found = tape_.find(lent);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(tape_.variable(*found).store, tape_.variable(var).store);
}

TEST_F(TapeTest, APartThatWasMetFirstIsAViewOfTheWhole) {
  const at::Tensor whole = at::ones({2, 4});
  const at::Tensor part = whole.slice(1, 0, 2);
  const VarId part_var = tape_.use(part);
  EXPECT_EQ(tape_.variable(part_var).origin, Variable::Origin::kOutside);
  const VarId whole_var = tape_.use(whole);
  EXPECT_EQ(tape_.variable(whole_var).origin, Variable::Origin::kOutside);
  EXPECT_EQ(tape_.variable(part_var).origin, Variable::Origin::kResult);
  EXPECT_TRUE(tape_.call(tape_.variable(part_var).call).comes_first);
  EXPECT_EQ(tape_.store(tape_.variable(part_var).store).variables.front(), whole_var);
  EXPECT_EQ(tape_.find(part), part_var);
}

TEST_F(TapeTest, PartsOfOneTensorAreViewsOfIt) {
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

TEST_F(TapeTest, AnotherStorageOverMoreOfTheSameBytesIsATensorOfItsOwn) {
  const at::Tensor memory = at::ones({4});
  const at::Tensor part = at::from_blob(memory.data_ptr<float>(), {2}, at::kFloat);
  const at::Tensor whole = at::from_blob(memory.data_ptr<float>(), {4}, at::kFloat);
  const VarId first = tape_.use(part);
  const VarId second = tape_.use(whole);
  EXPECT_EQ(tape_.variable(second).origin, Variable::Origin::kOutside);
  EXPECT_NE(tape_.variable(second).store, tape_.variable(first).store);
  EXPECT_EQ(tape_.content(second).numel(), 4);
}

TEST_F(TapeTest, AnEmptyViewBeginsNowhere) {
  const at::Tensor whole = at::ones({4});
  tape_.use(whole);
  const VarId empty = tape_.use(whole.slice(0, 4));
  EXPECT_EQ(tape_.args_of(tape_.call(tape_.variable(empty).call))[3].value.toInt(), 0);
}

TEST_F(TapeTest, ALongTapeReleasesExpiredResultsAndKeepsTheOthers) {
  const at::Tensor x = at::ones({2});
  const VarId var = tape_.add_input(x, 0);
  const at::Tensor kept = mul(x, x);
  const VarId kept_var = *tape_.find(kept);
  const at::Tensor view = kept.view({2, 1});
  const c10::weak_intrusive_ptr<c10::TensorImpl> expired = [&] {
    const at::Tensor result = mul(x, x);
    return c10::weak_intrusive_ptr<c10::TensorImpl>(result.getIntrusivePtr());
  }();
  EXPECT_EQ(expired.weak_use_count(), 2U);  // ours and the tape's
  at::Tensor last = x;
  for (int i = 0; i < 300; ++i) last = mul(last, x);
  EXPECT_EQ(expired.weak_use_count(), 1U);
  EXPECT_EQ(tape_.find(x), var);
  EXPECT_EQ(tape_.find(kept), kept_var);
  EXPECT_EQ(tape_.variable(*tape_.find(view)).store, tape_.variable(kept_var).store);
  EXPECT_FALSE(tape_.find(at::ones({2})).has_value());
}

TEST_F(TapeTest, AResultInTheMemoryOfAnArgumentIsAHiddenAliasUnlessItIsDeclared) {
  const at::Tensor x = at::ones({2});
  tape_.add_input(x, 0);
  const auto is_hidden = [&] { return tape_.calls().back().hidden_alias; };
  mul(x, x);
  EXPECT_FALSE(is_hidden());
  writer_.call("aten::view", "", {x, std::vector<std::int64_t>{2, 1}});
  EXPECT_FALSE(is_hidden());
  writer_.call("aten::dropout", "", {x, 0.5, false});  // which returns x itself
  EXPECT_TRUE(is_hidden());
}

TEST_F(TapeTest, MovingATensorToOtherMemoryMakesItAnotherValue) {
  at::Tensor x = at::ones({2});
  const VarId var = tape_.add_input(x, 0);
  x.set_data(at::zeros({2}));
  EXPECT_NE(tape_.use(x), var);
}

}  // namespace
}  // namespace leapp::trace
