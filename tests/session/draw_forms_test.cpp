// Both directions of each form, in the cases at the edge; tests/python/test_noise_draws.py has all
// operators.
#include "session/draw_forms.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>

namespace leapp::session {
namespace {

using at::Tensor;

/// Calls an operator.
Draw call(const char* name, const char* overload, torch::jit::Stack arguments) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
  torch::jit::Stack stack = arguments;
  op.callBoxed(&stack);
  return {op.schema(), std::move(arguments), stack};
}

/// Returns the standard numbers that the form finds, and expects that they give what was drawn.
Tensor numbers_of(const Draw& draw) {
  const DrawForm* const form = find_draw_form(draw);
  EXPECT_NE(form, nullptr);
  Tensor numbers = form->numbers(draw).to(at::kFloat);
  const std::vector<Tensor> values = form->values(draw, numbers);
  EXPECT_EQ(values.size(), draw.targets.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_TRUE(at::allclose(values[i].to(at::kDouble), draw.targets[i].to(at::kDouble), 1e-5));
  }
  return numbers;
}

TEST(DrawForms, ADeterministicDrawHasFiniteNumbers) {
  const Tensor x = at::ones({8});
  const auto none = c10::IValue();
  for (const Tensor& numbers :
       {numbers_of(call("aten::normal_", "", {x.clone(), 2.0, 0.0, none})),
        numbers_of(call("aten::uniform_", "", {x.clone(), 2.0, 2.0, none})),
        numbers_of(call("aten::bernoulli_", "float", {x.clone(), 0.0, none})),
        numbers_of(call("aten::bernoulli_", "float", {x.clone(), 1.0, none})),
        numbers_of(call("aten::native_dropout", "", {x, 0.5, true}))}) {
    EXPECT_TRUE(numbers.isfinite().all().item<bool>());
  }
}

TEST(DrawForms, NumbersOfMasksAreInTheMiddleOfTheirRange) {
  const Tensor numbers =
      numbers_of(call("aten::bernoulli_", "float", {at::empty({64}), 0.25, c10::IValue()}));
  EXPECT_TRUE((numbers.eq(0.125).logical_or(numbers.eq(0.625))).all().item<bool>());
}

TEST(DrawForms, TheLastOfManyIntegersIsExact) {
  constexpr std::int64_t kCount = 1 << 20;
  Draw draw = call("aten::random_", "from", {at::empty({4}, at::kLong), 0, kCount, c10::IValue()});
  draw.result().copy_(at::tensor({std::int64_t{0}, std::int64_t{1}, kCount - 2, kCount - 1}));
  EXPECT_LT(numbers_of(draw).max().item<float>(), 1);
}

TEST(DrawForms, MoreIntegersThanSinglePrecisionTellsApartHaveNone) {
  const Draw draw =
      call("aten::random_", "from", {at::empty({4}, at::kLong), 0, (1 << 20) + 1, c10::IValue()});
  EXPECT_FALSE(find_draw_form(draw)->numbers(draw).defined());
  const Draw whole = call("aten::random_", "", {at::empty({4}, at::kLong), c10::IValue()});
  EXPECT_FALSE(find_draw_form(whole)->numbers(whole).defined());
}

TEST(DrawForms, CategoriesOfNoWeightAreNotDrawn) {
  const Tensor weights = at::tensor({0.0F, 5.0F, 0.0F, 1e-4F, 3.0F, 0.0F, 0.0F, 1e4F}).view({2, 4});
  for (const bool replacement : {true, false}) {
    const Tensor numbers =
        numbers_of(call("aten::multinomial", "", {weights, 2, replacement, c10::IValue()}));
    EXPECT_TRUE(numbers.ge(0).all().item<bool>());
  }
}

TEST(DrawForms, RreluWritesItsSlopes) {
  const Tensor x = at::tensor({-1.0F, 2.0F, 0.0F});
  const Draw draw =
      call("aten::rrelu_with_noise", "", {x, at::zeros({3}), 0.25, 0.75, true, c10::IValue()});
  EXPECT_EQ(draw.targets.size(), 2U);
  EXPECT_EQ(numbers_of(draw)[1].item<float>(), 0.5F);
  const Draw replaced = call("aten::rrelu_with_noise_", "",
                             {x.clone(), at::zeros({3}), 0.25, 0.75, true, c10::IValue()});
  EXPECT_FALSE(find_draw_form(replaced)->numbers(replaced).defined());
}

TEST(DrawForms, OperatorsThatRejectSamplesHaveNone) {
  EXPECT_FALSE(has_draw_form("aten::poisson"));
  EXPECT_FALSE(has_draw_form("aten::_standard_gamma"));
  EXPECT_TRUE(has_draw_form("aten::normal_"));
}

}  // namespace
}  // namespace leapp::session
