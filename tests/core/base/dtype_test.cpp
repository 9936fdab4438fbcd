#include "leapp/dtype.h"

#include <gtest/gtest.h>

#include "leapp/tensor.h"

namespace leapp {
namespace {

TEST(DType, EveryNameLeadsBackToItsType) {
  for (int i = 0; i <= static_cast<int>(DType::kComplex128); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(name_of(dtype)), dtype) << name_of(dtype);
    EXPECT_GT(size_of(dtype), 0U);
  }
  EXPECT_EQ(dtype_from_name("float33"), std::nullopt);
  EXPECT_EQ(dtype_from_name(""), std::nullopt);
}

TEST(DType, EachTypeIsOfOneFamily) {
  for (int i = 0; i <= static_cast<int>(DType::kComplex128); ++i) {
    const auto dtype = static_cast<DType>(i);
    const int families =
        is_floating_point(dtype) + is_complex(dtype) + is_integer(dtype) + (dtype == DType::kBool);
    EXPECT_EQ(families, 1) << name_of(dtype);
  }
}

TEST(DType, SizesAreBytes) {
  EXPECT_EQ(size_of(DType::kBool), 1U);
  EXPECT_EQ(size_of(DType::kBFloat16), 2U);
  EXPECT_EQ(size_of(DType::kFloat32), 4U);
  EXPECT_EQ(size_of(DType::kComplex128), 16U);
}

TEST(Shape, CountsElementsOrRefuses) {
  EXPECT_EQ(checked_element_count({}), 1);
  EXPECT_EQ(checked_element_count({2, 0, 3}), 0);
  EXPECT_EQ(checked_element_count({2, 3}), 6);
  EXPECT_EQ(checked_element_count({-1}), std::nullopt);
  EXPECT_EQ(checked_element_count({INT64_MAX, 2}), std::nullopt);
}

TEST(Shape, IsWrittenLikeAList) {
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(to_string(Shape{1, 16}), "[1, 16]");
}

TEST(DType, SizesThatCannotBeCountedAreAnError) {
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_EQ(checked_byte_size(DType::kFloat32, {2, 3}), 24u);
  EXPECT_THROW(checked_byte_size(DType::kFloat32, {large, large}), Error);
  EXPECT_THROW(checked_byte_size(DType::kFloat64, {std::int64_t{1} << 61}), Error);
  EXPECT_THROW(Tensor(DType::kFloat32, {large, large}), Error);
  EXPECT_THROW(Tensor(DType::kFloat32, {-1}), Error);
  EXPECT_THROW(Tensor(ConstTensorView(nullptr, DType::kFloat32, {4})), Error);
}

}  // namespace
}  // namespace leapp
