// The robot's side of 09_controller.py, without libtorch: 09_controller <directory>/legs/legs.yaml
// robot.yaml is in the parent directory of the bundle. Here the loop computes the time; on a robot
// the steady clock is used, and the loop sleeps until its next tick.
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "leapp/controller.h"

namespace {

void control(const std::filesystem::path& yaml) {
  std::chrono::nanoseconds time{0};
  leapp::Controller controller(
      yaml, leapp::read_robot(yaml.parent_path().parent_path() / "robot.yaml"),
      {.blend_in = std::chrono::milliseconds(500), .clock = [&] { return time; }});
  const std::size_t encoders = controller.sensor("encoders");
  const std::size_t velocity = controller.sensor("velocity");
  const std::size_t motors = controller.actuator("motors");
  controller.start();

  std::array<double, 2> angles{10, 20};  // degrees; knee, hip: the robot's own order
  for (int tick = 0; tick < 400; ++tick) {
    controller.set_sensor(encoders, angles).value();
    controller.set_sensor(velocity, std::array{3.0}).value();
    controller.update();
    const std::span<const double> given = controller.actuator_values(motors);
    angles = {given[0], given[1]};  // these motors follow immediately
    time += std::chrono::milliseconds(5);
  }
  std::printf("after two seconds, C++:    ['%.4f', '%.4f']\n", angles[0], angles[1]);
  for (std::size_t i = 0; i < leapp::kCauses; ++i) {
    const auto cause = static_cast<leapp::Cause>(i);
    if (controller.counts()[i] == 0) continue;
    std::printf("%s %llu times\n", leapp::name_of(cause).data(),
                static_cast<unsigned long long>(controller.counts()[i]));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    control(argc > 1 ? argv[1] : "out/legs/legs.yaml");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
