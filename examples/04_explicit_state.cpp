// Reads, replaces, resets and restores the state of 04_explicit_state.py's bundle:
//   04_explicit_state <directory>/history/history.yaml
#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

#include "leapp/inference_manager.h"

int main(int argc, char** argv) try {
  leapp::InferenceManager robot(argc > 1 ? argv[1] : "history/history.yaml");
  const auto tick = [&robot](const char* label) {
    const leapp::Tensor obs({2}, {1.0F, 2.0F});
    const leapp::TensorMap outputs = robot.run_policy({{"filter/obs", obs}});
    const auto smooth = outputs.at("filter/smooth").values<float>();
    std::printf("%s: %.4f %.4f\n", label, static_cast<double>(smooth[0]),
                static_cast<double>(smooth[1]));
  };

  tick("first");
  const leapp::TensorMap before = robot.state();
  tick("second");
  robot.set_state(before);
  tick("second again");
  leapp::Tensor ones(leapp::DType::kFloat32, {3, 2});
  std::ranges::fill(ones.values<float>(), 1.0F);
  robot.set_input_value("filter", "history", std::as_const(ones).view());
  tick("from ones");
  robot.reset();
  tick("from the start");
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
