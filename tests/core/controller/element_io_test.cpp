#include "controller/element_io.h"

#include <cmath>
#include <limits>

#include "support.h"

namespace leapp {
namespace {

using ::testing::ElementsAre;

/// Two elements and three steps; rows are steps.
constexpr PortLayout kLayout{2, 3, 1, 2, 10};

TEST(ElementIo, StoresAndLoadsOneStep) {
  std::vector<float> memory(6);
  store_step(memory.data(), DType::kFloat32, kLayout, 1, std::array{1.5, -2.0});
  EXPECT_THAT(memory, ElementsAre(0, 0, 1.5, -2, 0, 0));
  std::vector<double> values(2);
  load_step(memory.data(), DType::kFloat32, kLayout, 1, values);
  EXPECT_THAT(values, ElementsAre(1.5, -2));
}

TEST(ElementIo, FollowsStrides) {
  constexpr PortLayout kColumns{2, 3, 3, 1, 10};
  std::vector<double> memory(6);
  store_step(memory.data(), DType::kFloat64, kColumns, 2, std::array{1.0, 2.0});
  EXPECT_THAT(memory, ElementsAre(0, 0, 1, 0, 0, 2));
  std::vector<double> values(2);
  load_step(memory.data(), DType::kFloat64, kColumns, 2, values);
  EXPECT_THAT(values, ElementsAre(1, 2));
}

TEST(ElementIo, FiniteValues) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(are_finite(std::array{0.0, -1e308, 5e-324}));
  EXPECT_FALSE(are_finite(std::array{0.0, kInfinity}));
  EXPECT_FALSE(are_finite(std::array{0.0, -kInfinity, kInfinity}));
  EXPECT_FALSE(are_finite(std::array{std::nan("")}));
}

TEST(ElementIo, FiniteAsTheTypeOfThePort) {
  const double largest = std::numeric_limits<float>::max();
  const double rounds_up = 0x1.ffffffp127;  // half a step above it
  EXPECT_TRUE(are_finite_as(DType::kFloat32, std::array{largest, -largest}));
  EXPECT_TRUE(are_finite_as(DType::kFloat32, std::array{std::nextafter(rounds_up, 0)}));
  EXPECT_FALSE(are_finite_as(DType::kFloat32, std::array{rounds_up}));
  EXPECT_FALSE(are_finite_as(DType::kFloat32, std::array{0.0, -1e39}));
  EXPECT_FALSE(are_finite_as(DType::kFloat32, std::array{std::nan("")}));
  EXPECT_TRUE(are_finite_as(DType::kFloat64, std::array{1e39}));
  EXPECT_FALSE(are_finite_as(DType::kFloat64, std::array{std::nan("")}));
}

}  // namespace
}  // namespace leapp
