// Runs the bundle of 01_minimal_pipeline.py without PyTorch:
//   01_minimal_pipeline <directory>/minimal/minimal.yaml
#include <cstdio>
#include <exception>

#include "leapp/inference_manager.h"

int main(int argc, char** argv) try {
  leapp::InferenceManager robot(argc > 1 ? argv[1] : "minimal/minimal.yaml");
  for (int tick = 0; tick < 3; ++tick) {
    leapp::Tensor joints(leapp::DType::kFloat32, {1, 8});
    for (float& joint : joints.values<float>()) joint = 0.1F * static_cast<float>(tick);
    const leapp::TensorMap outputs = robot.run_policy({{"observe/joints", joints}});
    std::printf("tick %d:", tick);
    for (const float value : outputs.at("policy/action").values<float>()) {
      std::printf(" %.4f", static_cast<double>(value));
    }
    std::printf("\n");
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
