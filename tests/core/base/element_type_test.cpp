#include "base/element_type.h"

#include <gtest/gtest.h>

namespace leapp {
namespace {

TEST(ElementType, HasTheSizeOfItsDtype) {
  for (int i = 0; i <= static_cast<int>(DType::kComplex128); ++i) {
    const auto dtype = static_cast<DType>(i);
    const std::size_t bytes = with_element_type(dtype, []<typename T>(T) { return sizeof(T); });
    EXPECT_EQ(bytes, size_of(dtype)) << name_of(dtype);
  }
}

TEST(ElementType, SmallFloatsAreNumbers) {
  EXPECT_EQ(to_number(Half{0xC500}), -5.0F);
  EXPECT_EQ(to_number(BFloat16{0x3FC0}), 1.5F);
  EXPECT_EQ(to_number(0.1F), static_cast<double>(0.1F));
}

}  // namespace
}  // namespace leapp
