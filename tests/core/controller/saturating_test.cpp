#include "controller/saturating.h"

#include "support.h"

namespace leapp {
namespace {

using std::chrono::nanoseconds;
constexpr auto kMost = nanoseconds::max();
constexpr auto kLeast = nanoseconds::min();

TEST(Saturating, Add) {
  EXPECT_EQ(saturating_add(nanoseconds(2), nanoseconds(3)), nanoseconds(5));
  EXPECT_EQ(saturating_add(kMost, nanoseconds(0)), kMost);
  EXPECT_EQ(saturating_add(kMost, nanoseconds(1)), kMost);
  EXPECT_EQ(saturating_add(kMost - nanoseconds(1), kMost), kMost);
}

TEST(Saturating, StepsForward) {
  EXPECT_EQ(steps_forward(nanoseconds(2), nanoseconds(5)), nanoseconds(3));
  EXPECT_EQ(steps_forward(nanoseconds(5), nanoseconds(2)), nanoseconds(0));
  EXPECT_EQ(steps_forward(nanoseconds(-5), nanoseconds(2)), nanoseconds(7));
  EXPECT_EQ(steps_forward(kLeast, kMost), kMost);
  EXPECT_EQ(steps_forward(nanoseconds(-1), kMost), kMost);
  EXPECT_EQ(steps_forward(kLeast, nanoseconds(0)), kMost);
  EXPECT_EQ(steps_forward(kMost, kLeast), nanoseconds(0));
}

}  // namespace
}  // namespace leapp
