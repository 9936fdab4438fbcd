// Recording inside operators whose implementations call other operators.
#include "trace/inside.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include "tape_writer.h"

namespace leapp::trace {
namespace {

at::Tensor shifted(const at::Tensor& x) {
  at::Tensor y = at::zeros({3});
  y.slice(0, 1).copy_(x);
  return y.mul_(2);
}

at::Tensor by_hand(const at::Tensor& x) {
  at::Tensor y = at::empty_like(x);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    y.mutable_data_ptr<float>()[i] = 2 * x.const_data_ptr<float>()[i];
  }
  return y;
}

at::Tensor by_value(const at::Tensor& x) {
  return x * x.sum().item();
}

at::Tensor drawn(const at::Tensor& x) {
  return x + at::rand({2});
}

// Like an operator that returns a gradient only on request.
std::tuple<at::Tensor, at::Tensor> with_empty(const at::Tensor& x) {
  return {x * 2, at::empty({0, 2})};
}

std::tuple<at::Tensor, at::Tensor> with_constant(const at::Tensor& x) {
  return {x * 2, at::ones({2})};
}

TORCH_LIBRARY(leapp_inside_test, library) {
  library.def("shifted(Tensor x) -> Tensor");
  library.def("by_hand(Tensor x) -> Tensor");
  library.def("by_value(Tensor x) -> Tensor");
  library.def("drawn(Tensor x) -> Tensor");
  library.def("with_empty(Tensor x) -> (Tensor, Tensor)");
  library.def("with_constant(Tensor x) -> (Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(leapp_inside_test, CPU, library) {
  library.impl("shifted", shifted);
  library.impl("by_hand", by_hand);
  library.impl("by_value", by_value);
  library.impl("drawn", drawn);
  library.impl("with_empty", with_empty);
  library.impl("with_constant", with_constant);
}

TORCH_LIBRARY_FRAGMENT(torch_nn, library) {
  library.def("leapp_inside_test(Tensor x) -> Tensor");
}

std::optional<Inside> look_into(const char* name, const at::Tensor& x) {
  return record_inside(testing::find_op(name, ""), {x}, {});
}

TEST(InsideTest, TheOperatorsOfAnImplementationAreRecorded) {
  const auto inside = look_into("leapp_inside_test::shifted", at::ones({2}));
  ASSERT_TRUE(inside);
  std::vector<std::string> names;
  for (const Call& call : inside->recording.tape->calls()) names.push_back(call.op.schema().name());
  EXPECT_EQ(names,
            (std::vector<std::string>{"aten::zeros", "aten::slice", "aten::copy_", "aten::mul_"}));
  EXPECT_EQ(inside->recording.inputs.size(), 1U);
  EXPECT_EQ(inside->recording.outputs.size(), 1U);
}

TEST(InsideTest, ArgumentsAreNotWrittenTo) {
  const at::Tensor x = at::ones({2});
  record_inside(testing::find_op("aten::mul_", "Scalar"), {x, 2}, {});
  EXPECT_TRUE(at::equal(x, at::ones({2})));
}

TEST(InsideTest, AResultWithoutElementsNeedsNoInput) {
  const auto inside = look_into("leapp_inside_test::with_empty", at::ones({2}));
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->recording.outputs.size(), 2U);
}

TEST(InsideTest, OperatorsOfPyTorchsPythonPackageAreNotTheUsers) {
  const c10::OperatorHandle own = testing::find_op("leapp_inside_test::drawn", "");
  const c10::OperatorHandle shipped = testing::find_op("torch_nn::leapp_inside_test", "");
  const c10::OperatorHandle built_in = testing::find_op("aten::mul", "Tensor");
  EXPECT_TRUE(is_users(own) && !is_aten(own) && can_look_inside(own));
  EXPECT_TRUE(!is_users(shipped) && !is_aten(shipped) && can_look_inside(shipped));
  EXPECT_TRUE(!is_users(built_in) && is_aten(built_in) && !can_look_inside(built_in));
}

TEST(InsideTest, WhatOperatorsDoNotTellIsNotRecorded) {
  for (const char* name : {"by_hand", "by_value", "drawn", "with_constant"}) {
    EXPECT_FALSE(look_into((std::string("leapp_inside_test::") + name).c_str(), at::ones({2})))
        << name;
  }
}

}  // namespace
}  // namespace leapp::trace
