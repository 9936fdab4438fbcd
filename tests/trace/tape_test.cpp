// Tests of recognising tensors on a tape.
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

TEST_F(TapeTest, MemoryLentToAnotherLibraryIsKnownByItsAddress) {
  const at::Tensor x = at::ones({4});
  const VarId var = tape_.add_input(x, 0);
  const at::Tensor lent = at::from_blob(x.data_ptr<float>() + 1, {2}, at::kFloat);
  const auto found = tape_.find(lent);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(tape_.variable(*found).store, tape_.variable(var).store);
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
  EXPECT_EQ(expired.weak_use_count(), 2U);  // held by the test and by the tape
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
  const auto is_hidden = [&] { return tape_.calls().back().undeclared_alias; };
  mul(x, x);
  EXPECT_FALSE(is_hidden());
  writer_.call("aten::view", "", {x, std::vector<std::int64_t>{2, 1}});
  EXPECT_FALSE(is_hidden());
  writer_.call("aten::dropout", "", {x, 0.5, false});  // the operator returns x itself
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
