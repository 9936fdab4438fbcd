// The robot's side of 06_robot_loop.py, without libtorch: 06_robot_loop
// <directory>/walker/walker.yaml
//
// Names are looked up once; the loop itself only moves values and allocates nothing.
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "leapp/inference_manager.h"

namespace {

void control(const std::filesystem::path& yaml) {
  leapp::InferenceManager robot(yaml, {.measure = true});
  const leapp::InputPort joints = robot.input_port("observe/joints");
  const leapp::InputPort imu = robot.input_port("observe/imu");
  const leapp::OutputPort action = robot.output_port("limit/action");
  robot.prepare();

  const std::array<float, 4> level{0.5F, 0.5F, 0.5F, 0.5F};
  for (int tick = 0; tick < 100; ++tick) {
    std::array<float, 8> angles{};
    for (std::size_t joint = 0; joint < angles.size(); ++joint) {
      angles[joint] = std::sin(0.1F * static_cast<float>(tick) + static_cast<float>(joint));
    }
    leapp::Result<void> done = robot.set_input(joints, angles);  // checks type and size
    if (done) done = robot.set_input(imu, level);
    if (done) done = robot.tick();
    done.value();  // throws; a robot would stop here
  }

  const auto command = robot.output(action).values<float>();
  std::printf("after 100 ticks, C++:     ['%.4f', '%.4f', '%.4f', '%.4f']\n",
              static_cast<double>(command[0]), static_cast<double>(command[1]),
              static_cast<double>(command[2]), static_cast<double>(command[3]));
  const leapp::LatencySummary took = robot.statistics().tick;
  std::printf("a tick took %.1f us in the middle, %.1f us at most\n",
              static_cast<double>(took.p50.count()) / 1e3,
              static_cast<double>(took.max.count()) / 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    control(argc > 1 ? argv[1] : "walker/walker.yaml");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
