// The part of the ROS 2 package that needs no ROS, with stand-ins for the hardware's handles.
#include "leapp_ros2_control/handle_order.hpp"

#include <cmath>
#include <optional>

#include "support.h"

namespace leapp_ros2_control {
namespace {

using ::testing::ElementsAre;

struct OlderHandle {
  std::string name;
  double value = 0;
  std::string get_name() const { return name; }
  double get_value() const { return value; }
  void set_value(double given) { value = given; }
};

struct NewerHandle {
  std::string name;
  std::optional<double> value;
  std::string get_name() const { return name; }
  std::optional<double> get_optional() const { return value; }
  bool set_value(double given) {
    value = given;
    return true;
  }
};

TEST(HandleOrder, FindsHandlesByName) {
  const std::vector<OlderHandle> handles = {{"b/position"}, {"a/position"}};
  EXPECT_THAT(handle_order({"a/position", "b/position"}, handles), ElementsAre(1, 0));
  try {
    handle_order({"c/position"}, handles);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the hardware has no interface c/position");
  }
}

TEST(HandleOrder, ReadsAndWritesBothKindsOfHandles) {
  OlderHandle older{"a", 3};
  NewerHandle newer{"a", {}};
  EXPECT_EQ(read_handle(older), 3);
  EXPECT_TRUE(std::isnan(read_handle(newer)));
  write_handle(older, 4);
  write_handle(newer, 5);
  EXPECT_EQ(older.value, 4);
  EXPECT_EQ(read_handle(newer), 5);
}

}  // namespace
}  // namespace leapp_ros2_control
