// Reads any bytes as a robot's description: the result is a valid robot or an Error.
#include <cstdint>
#include <string_view>

#include "leapp/error.h"
#include "leapp/robot.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  leapp::Robot robot;
  try {
    robot = leapp::parse_robot({reinterpret_cast<const char*>(data), size}, "robot.yaml");
  } catch (const leapp::Error&) {
    return 0;
  }
  leapp::check(robot);
  return 0;
}
