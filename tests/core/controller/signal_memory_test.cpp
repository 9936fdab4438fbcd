#include "controller/signal_memory.h"

#include <gmock/gmock.h>

#include "leapp/error.h"
#include "support.h"

namespace leapp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class SignalMemoryTest : public ::testing::Test {
 protected:
  static TickPlan plan() {
    TickPlan plan;
    plan.sensors = {2};
    plan.actuators = {1, 3};
    return plan;
  }
  SignalMemory memory{plan()};
};

TEST_F(SignalMemoryTest, TakesWhatFits) {
  memory.set(0, std::array{1.0, 2.0}, 5ms).value();
  EXPECT_THAT(memory.sensor_values(0), ElementsAre(1, 2));
  EXPECT_TRUE(memory.sensors[0].fresh);
  EXPECT_EQ(memory.sensors[0].age, 5ms);
  memory.end_tick();
  EXPECT_FALSE(memory.sensors[0].fresh);
  memory.set_fresh(0).value();
  EXPECT_TRUE(memory.sensors[0].fresh);
  EXPECT_EQ(memory.sensors[0].age, 0ms);
  EXPECT_EQ(memory.actuator_values(1).size(), 3U);
}

TEST_F(SignalMemoryTest, RefusesWhatDoesNot) {
  EXPECT_EQ(memory.set(0, std::array{1.0}, 0ms).failure().code(), Code::kPortShape);
  EXPECT_EQ(memory.set(0, std::array{1.0, 2.0}, -1ns).failure().code(), Code::kPortShape);
  EXPECT_EQ(memory.set(1, std::array{1.0, 2.0}, 0ms).failure().code(), Code::kNotBound);
  EXPECT_EQ(memory.set_fresh(1).failure().code(), Code::kNotBound);
  EXPECT_THAT(memory.sensor_values(0), ElementsAre(0, 0));
  EXPECT_FALSE(memory.sensors[0].fresh);
  EXPECT_TRUE(memory.sensor_values(1).empty());
  EXPECT_TRUE(memory.actuator_values(2).empty());
}

TEST(FindSignal, NamesWhatThereIs) {
  const std::vector<Signal> signals = {{.name = "a", .kind = "k", .elements = {}},
                                       {.name = "b", .kind = "k", .elements = {}}};
  EXPECT_EQ(find_signal(signals, "b", "sensor"), 1U);
  EXPECT_THAT(testing::message_of([&] { (void)find_signal(signals, "c", "sensor"); }),
              ::testing::HasSubstr("no sensor 'c'; it has: a, b [LP652]"));
}

}  // namespace
}  // namespace leapp
