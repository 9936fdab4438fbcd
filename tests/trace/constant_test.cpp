#include "trace/constant.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tape_writer.h"

namespace leapp::trace {
namespace {

using testing::find_op;

TEST(ConstantTest, OperatorsThatTakeATensorForItsShape) {
  const struct {
    const char* name;
    const char* overload;
    bool makes;
  } table[] = {
      {"aten::zeros_like", "", true}, {"aten::full_like", "", true},  {"aten::new_ones", "", true},
      {"aten::zeros", "", false},     {"aten::mul", "Tensor", false}, {"aten::clone", "", false},
  };
  for (const auto& line : table) {
    EXPECT_EQ(makes_constant(find_op(line.name, line.overload)), line.makes) << line.name;
  }
}

class ConstantTapeTest : public ::testing::Test {
 protected:
  ConstantTapeTest() { writer_.input(x_); }

  testing::TapeWriter writer_;
  const at::Tensor x_ = at::full({2}, 3.0);
  const at::Tensor weight_ = at::full({2}, 5.0);
};

TEST_F(ConstantTapeTest, WhatIsMadeOfNoNodesValues) {
  const at::Tensor square = writer_.mul(weight_, weight_);
  const at::Tensor y = writer_.mul(x_, weight_);
  const at::Tensor zeros =
      writer_.call("aten::zeros_like", "",
                   {y, c10::IValue(), c10::IValue(), c10::IValue(), c10::IValue(), c10::IValue()});
  const struct {
    const char* what;
    const at::Tensor& tensor;
    bool constant;
  } table[] = {
      {"from outside", weight_, true}, {"of what is from outside", square, true},
      {"an input", x_, false},         {"of an input", y, false},
      {"of its shape", zeros, true},
  };
  for (const auto& line : table) {
    EXPECT_EQ(is_constant(*writer_.tape, writer_.var(line.tensor)), line.constant) << line.what;
  }
}

TEST_F(ConstantTapeTest, AConstantIsComputedAgain) {
  const at::Tensor square = writer_.mul(weight_, weight_);
  writer_.add_in_place(square, weight_);
  const at::Tensor value = evaluate(*writer_.tape, writer_.var(square));
  EXPECT_TRUE(same_value(value, at::full({2}, 30.0)));
  EXPECT_FALSE(value.is_alias_of(square));
}

TEST_F(ConstantTapeTest, MemoryFromOutsideIsWhatItHeldAtFirst) {
  const at::Tensor memory = at::ones({2});
  writer_.add_in_place(memory, weight_);
  EXPECT_TRUE(same_value(evaluate(*writer_.tape, writer_.var(memory)), at::ones({2})));
}

TEST_F(ConstantTapeTest, AViewOfMemoryFromOutsideIsWhatItHeldAtFirst) {
  const at::Tensor rows = at::ones({2, 2});
  const VarId first = writer_.tape->use(rows[0]);
  const VarId second = writer_.tape->use(rows[1]);
  for (const VarId row : {first, second}) {
    EXPECT_TRUE(at::equal(evaluate(*writer_.tape, row), at::ones({2})));
  }
}

TEST(SameTest, NaNIsNaN) {
  const at::Tensor nan = at::full({2}, std::nan(""));
  EXPECT_TRUE(same_value(nan, nan.clone()));
  EXPECT_FALSE(same_value(nan, at::ones({2})));
}

TEST(SameTest, TypesAndValues) {
  const at::Tensor ones = at::ones({2});
  const struct {
    const char* what;
    at::Tensor other;
    bool type;
    bool value;
  } table[] = {
      {"itself", ones, true, true},
      {"a copy", at::ones({2}), true, true},
      {"other values", at::full({2}, 2.0), true, false},
      {"another shape", at::ones({1, 2}), false, false},
      {"another type", at::ones({2}, at::kInt), false, false},
      {"nothing", {}, false, false},
  };
  for (const auto& line : table) {
    EXPECT_EQ(same_type(ones, line.other), line.type) << line.what;
    EXPECT_EQ(same_type(line.other, ones), line.type) << line.what;
    EXPECT_EQ(same_value(ones, line.other), line.value) << line.what;
  }
  EXPECT_FALSE(same_type({}, {}));
}

}  // namespace
}  // namespace leapp::trace
