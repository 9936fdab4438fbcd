#include "runtime/mock_input.h"

#include <gmock/gmock.h>

#include <cmath>

namespace leapp {
namespace {

using ::testing::Each;

Tensor made(DType dtype, const Shape& shape, unsigned seed = 0) {
  std::mt19937 random(seed);
  return mock_value(Port{.name = "x", .dtype = dtype, .shape = shape}, random);
}

TEST(MockInputTest, NumbersAreNormallyDistributed) {
  const Tensor tensor = made(DType::kFloat32, {100, 100});
  double sum = 0;
  double squares = 0;
  for (const float value : tensor.values<float>()) {
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  EXPECT_NEAR(sum / 10'000, 0, 0.05);
  EXPECT_NEAR(squares / 10'000, 1, 0.05);
}

TEST(MockInputTest, IntegersAreOnesAndBoolsAreEither) {
  EXPECT_THAT(made(DType::kInt64, {2, 3}).values<std::int64_t>(), Each(1));
  EXPECT_THAT(made(DType::kUInt8, {4}).values<std::uint8_t>(), Each(1));
  int set = 0;
  for (const bool value : made(DType::kBool, {1000}).values<bool>()) set += value ? 1 : 0;
  EXPECT_GT(set, 400);
  EXPECT_LT(set, 600);
}

TEST(MockInputTest, IsTheSameForTheSameSeed) {
  EXPECT_EQ(made(DType::kFloat64, {8}, 3), made(DType::kFloat64, {8}, 3));
  EXPECT_NE(made(DType::kFloat64, {8}, 3), made(DType::kFloat64, {8}, 4));
  EXPECT_EQ(made(DType::kFloat32, {0, 4}).byte_size(), 0u);
  EXPECT_EQ(made(DType::kFloat32, {}).byte_size(), 4u);
}

}  // namespace
}  // namespace leapp
