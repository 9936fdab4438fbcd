// Numbers that reach the dispatcher as tensors.
#include "trace/wrapped_number.h"

#include <ATen/ScalarOps.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "tape_writer.h"

namespace leapp::trace {
namespace {

using testing::find_op;

at::Tensor wrapped(const at::Scalar& number) {
  at::Tensor tensor = c10::scalar_to_tensor(number);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

TEST(WrappedNumberTest, IsATensorMadeOfANumber) {
  EXPECT_TRUE(is_wrapped_number(wrapped(2)));
  EXPECT_FALSE(is_wrapped_number(at::ones({})));
  EXPECT_FALSE(is_wrapped_number(at::Tensor()));
  EXPECT_FALSE(is_wrapped_number(2));
}

TEST(WrappedNumberTest, OverloadsThatTakeTheNumberItself) {
  const struct {
    const char* name;
    const char* overload;
    std::size_t position;
    const char* found;
  } table[] = {
      {"aten::mul", "Tensor", 1, "Scalar"},
      {"aten::mul", "Tensor", 0, ""},
      {"aten::div", "Tensor_mode", 1, "Scalar_mode"},
      {"aten::pow", "Tensor_Tensor", 1, "Tensor_Scalar"},
      {"aten::maximum", "", 1, ""},
  };
  for (const auto& line : table) {
    const auto found = scalar_overload(find_op(line.name, line.overload), line.position);
    EXPECT_EQ(found ? found->schema().overload_name() : "", line.found)
        << line.name << "." << line.overload << " at " << line.position;
  }
}

TEST(WrappedNumberTest, PromotesAsANumberWould) {
  const struct {
    at::ScalarType tensor;
    at::Scalar number;
    at::ScalarType promoted;
  } table[] = {
      {at::kHalf, 2.5, at::kHalf},
      {at::kInt, 2, at::kInt},
      {at::kInt, 2.5, at::kFloat},
      {at::kBool, 2, at::kLong},
  };
  for (const auto& line : table) {
    const c10::IValue arguments[] = {at::ones({2}, line.tensor), wrapped(line.number), 1};
    EXPECT_EQ(promoted_type(arguments, 3), line.promoted) << c10::toString(line.tensor);
  }
}

}  // namespace
}  // namespace leapp::trace
