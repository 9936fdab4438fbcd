// Runs ticks of the bundle of 02_feedback_example.py, resets it, and runs them again:
//   02_feedback_example <directory>/feedback/feedback.yaml
// The bundle contains TorchScript, so its engine is loaded at run time; this program does not link
// libtorch.
#include <cstdio>
#include <exception>

#include "leapp/inference_manager.h"

int main(int argc, char** argv) try {
  leapp::InferenceManager robot(argc > 1 ? argv[1] : "feedback/feedback.yaml");
  const leapp::Tensor observation({1}, {1.0F});
  for (int episode = 0; episode < 2; ++episode) {
    for (int tick = 0; tick < 4; ++tick) {
      const leapp::TensorMap outputs = robot.run_policy({{"policy_step/observation", observation}});
      const float action = outputs.at("policy_step/action").values<float>()[0];
      std::printf("tick %d: %.4f\n", tick, static_cast<double>(action));
    }
    robot.reset();  // the memory has its initial value again
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
