// Runs the recurrent policy of 03_stateful_gru_export.py with the real-time calls:
//   03_stateful_gru_export <directory>/gru/gru.yaml
#include <array>
#include <cstdio>
#include <exception>

#include "leapp/inference_manager.h"

int main(int argc, char** argv) try {
  leapp::InferenceManager robot(argc > 1 ? argv[1] : "gru/gru.yaml");
  const leapp::InputPort obs = robot.input_port("policy/obs");
  const leapp::OutputPort action = robot.output_port("policy/action");
  robot.prepare();  // from here on a tick allocates nothing

  for (int tick = 0; tick < 5; ++tick) {
    std::array<float, 16> sensed{};
    sensed.fill(0.2F * static_cast<float>(tick));
    robot.set_input(obs, sensed).value();  // checks type and size; throws on a failure
    robot.tick().value();
    std::printf("tick %d:", tick);
    for (const float command : robot.output(action).values<float>()) {
      std::printf(" %.4f", static_cast<double>(command));
    }
    std::printf("\n");
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
