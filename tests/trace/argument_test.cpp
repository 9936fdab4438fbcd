#include "trace/argument.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

namespace leapp::trace {
namespace {

TEST(ArgumentTest, ValuesAreTheSameOrNot) {
  const c10::IValue none;
  const c10::IValue nan = std::nan("");
  const c10::IValue list = std::vector<std::int64_t>{1, 2};
  const struct {
    const char* what;
    c10::IValue a, b;
    bool same;
  } table[] = {
      {"nothing", none, none, true},
      {"nothing and a number", none, 1, false},
      {"integers", 2, 2, true},
      {"other integers", 2, 3, false},
      {"an integer and a real number", 2, 2.0, false},
      {"real numbers", 0.5, 0.5, true},
      {"no numbers", nan, nan, true},
      {"a number and none", nan, 0.5, false},
      {"bools", true, true, true},
      {"other bools", true, false, false},
      {"strings", "mean", "sum", false},
      {"lists", list, std::vector<std::int64_t>{1, 2}, true},
      {"other lists", list, std::vector<std::int64_t>{1, 3}, false},
      {"tensors", at::ones({2}), at::ones({2}), true},
      {"other tensors", at::ones({2}), at::zeros({2}), false},
      {"tensors of NaN", at::full({2}, std::nan("")), at::full({2}, std::nan("")), true},
      {"a missing tensor", at::Tensor(), at::ones({2}), false},
      {"two of them", at::Tensor(), at::Tensor(), true},
      {"a tensor and a number", at::ones({}), 1, false},
  };
  for (const auto& line : table) EXPECT_EQ(same_argument(line.a, line.b), line.same) << line.what;
}

TEST(ArgumentTest, InWords) {
  EXPECT_EQ(text_of(c10::IValue(3)), "3");
  EXPECT_EQ(text_of(c10::IValue(at::scalar_tensor(2, at::kLong))), "2");
  EXPECT_EQ(text_of(c10::IValue(at::ones({2}))), "a tensor");
  EXPECT_EQ(text_of(Arg{.value = 0.5}), "0.5");
  EXPECT_EQ(text_of(Arg{.kind = Arg::Kind::kTensor, .var = 0}), "a tensor");
  EXPECT_EQ(text_of(Arg{.kind = Arg::Kind::kTensorList, .list_size = 1}), "1 tensor");
  EXPECT_EQ(text_of(Arg{.kind = Arg::Kind::kTensorList, .list_size = 3}), "3 tensors");
}

}  // namespace
}  // namespace leapp::trace
