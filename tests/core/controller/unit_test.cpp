#include "controller/unit.h"

#include <numbers>

#include "support.h"

namespace leapp {
namespace {

TEST(Unit, ConvertsWhatMeasuresTheSame) {
  EXPECT_DOUBLE_EQ(*unit_factor("deg", "rad"), std::numbers::pi / 180);
  EXPECT_DOUBLE_EQ(*unit_factor("rad", "deg"), 180 / std::numbers::pi);
  EXPECT_DOUBLE_EQ(*unit_factor("rpm", "rad/s"), 2 * std::numbers::pi / 60);
  EXPECT_DOUBLE_EQ(*unit_factor("mm", "m"), 1e-3);
  EXPECT_DOUBLE_EQ(*unit_factor("g", "m/s^2"), 9.80665);
  EXPECT_EQ(unit_factor("furlong", "furlong"), 1);
}

TEST(Unit, RefusesWhatDoesNot) {
  EXPECT_EQ(unit_factor("deg", "m"), std::nullopt);
  EXPECT_EQ(unit_factor("furlong", "m"), std::nullopt);
}

}  // namespace
}  // namespace leapp
