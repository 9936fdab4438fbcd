#include "runtime/finite.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "leapp/tensor.h"

namespace leapp {
namespace {

template <typename T>
bool finite_with(T value, std::size_t at, std::size_t count = 33) {
  std::vector<T> values(count, T(1));
  values[at] = value;
  return all_finite(dtype_of<T>(), values.data(), values.size() * sizeof(T));
}

// Every position of NaN, because loops that check several elements at a time have separate code for
// the remaining ones.
TEST(FiniteTest, FindsOneThatIsNotFiniteAnywhere) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (std::size_t at = 0; at < 33; ++at) {
    EXPECT_FALSE(finite_with(std::nanf(""), at)) << at;
    EXPECT_FALSE(finite_with(kInfinity, at)) << at;
    EXPECT_FALSE(finite_with(-kInfinity, at)) << at;
    EXPECT_FALSE(finite_with(std::nan(""), at)) << at;
    EXPECT_FALSE(finite_with(std::complex<float>(1, kInfinity), at)) << at;
    EXPECT_TRUE(finite_with(std::numeric_limits<float>::max(), at)) << at;
    EXPECT_TRUE(finite_with(std::numeric_limits<double>::lowest(), at)) << at;
    EXPECT_TRUE(finite_with(std::numeric_limits<float>::denorm_min(), at)) << at;
  }
}

TEST(FiniteTest, HalvesAndBfloatsHaveInfinitiesOfTheirOwn) {
  const auto finite = [](DType dtype, std::uint16_t bits) {
    const std::array<std::uint16_t, 3> values{0, bits, 0};
    return all_finite(dtype, values.data(), sizeof(values));
  };
  EXPECT_TRUE(finite(DType::kFloat16, 0x7BFF));
  EXPECT_FALSE(finite(DType::kFloat16, 0x7C00));
  EXPECT_FALSE(finite(DType::kFloat16, 0xFE00));
  EXPECT_TRUE(finite(DType::kBFloat16, 0x7F7F));
  EXPECT_FALSE(finite(DType::kBFloat16, 0x7F80));
  EXPECT_FALSE(finite(DType::kBFloat16, 0xFFC0));
}

TEST(FiniteTest, IntegersAndNothingAreFinite) {
  EXPECT_TRUE(finite_with(std::numeric_limits<std::int64_t>::min(), 3));
  EXPECT_TRUE(finite_with(std::uint8_t{255}, 3));
  EXPECT_TRUE(all_finite(DType::kFloat32, nullptr, 0));
}

}  // namespace
}  // namespace leapp
