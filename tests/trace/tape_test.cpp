// How a tape knows tensors again, and what a slice of it keeps.
#include "trace/tape.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>

#include "trace/recording.h"

namespace leapp::trace {
namespace {

c10::OperatorHandle op(const char* name, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

class TapeTest : public ::testing::Test {
 protected:
  at::Tensor mul(const at::Tensor& a, const at::Tensor& b) {
    const VarId left = tape_.use(a);
    const VarId right = tape_.use(b);
    tape_.begin_call(op("aten::mul", "Tensor"), {}, kNobody);
    tape_.add_tensor(left);
    tape_.add_tensor(right);
    const at::Tensor result = at::mul(a, b);
    tape_.add_result(result);
    return result;
  }
  void zero(const at::Tensor& a) {
    const VarId var = tape_.use(a);
    captures_.before_write(a);
    a.zero_();
    tape_.begin_call(op("aten::zero_", ""), {}, kNobody);
    tape_.add_tensor(var);
    tape_.note_write(var, kNobody);
    tape_.add_result(a);
  }

  CaptureTable captures_;
  Tape tape_{captures_};
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

TEST_F(TapeTest, ALongTapeLetsGoOfDeadResultsAndKeepsTheOthers) {
  const at::Tensor x = at::ones({2});
  const VarId var = tape_.add_input(x, 0);
  const at::Tensor kept = mul(x, x);
  const VarId kept_var = *tape_.find(kept);
  const at::Tensor view = kept.view({2, 1});
  const c10::weak_intrusive_ptr<c10::TensorImpl> dead = [&] {
    const at::Tensor result = mul(x, x);
    return c10::weak_intrusive_ptr<c10::TensorImpl>(result.getIntrusivePtr());
  }();
  EXPECT_EQ(dead.weak_use_count(), 2U);  // ours and the tape's
  at::Tensor last = x;
  for (int i = 0; i < 300; ++i) last = mul(last, x);
  EXPECT_EQ(dead.weak_use_count(), 1U);
  EXPECT_EQ(tape_.find(x), var);
  EXPECT_EQ(tape_.find(kept), kept_var);
  EXPECT_EQ(tape_.variable(*tape_.find(view)).store, tape_.variable(kept_var).store);
  EXPECT_FALSE(tape_.find(at::ones({2})).has_value());
}

TEST_F(TapeTest, MovingATensorToOtherMemoryMakesItAnotherValue) {
  at::Tensor x = at::ones({2});
  const VarId var = tape_.add_input(x, 0);
  x.set_data(at::zeros({2}));
  EXPECT_NE(tape_.use(x), var);
}

TEST_F(TapeTest, ASliceKeepsProducersAndWritesAndDropsTheRest) {
  const at::Tensor x = at::ones({2});
  tape_.add_input(x, 0);
  const at::Tensor buffer = at::ones({2});
  zero(buffer);                         // 0: needed, for what it wrote
  const at::Tensor y = mul(x, buffer);  // 1: needed
  const at::Tensor unused = mul(y, y);  // 2: not
  const at::Tensor z = mul(y, x);       // 3: needed
  EXPECT_EQ(slice(tape_, {*tape_.find(z)}), (std::vector<std::int32_t>{0, 1, 3}));
}

}  // namespace
}  // namespace leapp::trace
