#include "import/motors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace leapp::importing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MotorsTest, ThePolicysOrderAndTheMotors) {
  const Motors motors({5, 0, 3});  // three joints among six motors
  EXPECT_THAT(motors.motors(), ElementsAre(0, 3, 5));
  EXPECT_THAT(motors.joints({0, 1, 2}), ElementsAre(2, 0, 1));
  EXPECT_THAT(motors.from_policy({50, 0, 30}), ElementsAre(0, 30, 50));
  EXPECT_THAT(motors.from_motors({0, 10, 20, 30, 40, 50}), ElementsAre(0, 30, 50));
}

TEST(MotorsTest, NamesAreGivenOrThoseOfTheMotors) {
  const Motors motors({3, 1});
  EXPECT_THAT(motors.names(Fields("deploy.yaml", {}, {})), ElementsAre("motor_1", "motor_3"));
  const Fields named("deploy.yaml", {}, {{"joint_names", "hip,knee"}});
  EXPECT_THAT(motors.names(named), ElementsAre("hip", "knee"));
  const Fields too_many("deploy.yaml", {}, {{"joint_names", "a,b,c"}});
  EXPECT_THAT(leapp::testing::error_of([&] { motors.names(too_many); }),
              HasSubstr("has 3 values, expected 2"));
}

}  // namespace
}  // namespace leapp::importing
