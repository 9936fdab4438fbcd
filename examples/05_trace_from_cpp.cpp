// Traces a libtorch program, exports it, and runs the bundle, all from C++:
//   05_trace_from_cpp [directory]
// The calls have the same names as in Python. 05_trace_from_cpp.py runs the resulting bundle.
#include <torch/torch.h>

#include <cstdio>
#include <exception>
#include <string>

#include "leapp/inference_manager.h"
#include "leapp/leapp.h"

namespace {

namespace annotate = leapp::annotate;

/// A policy like any other in libtorch: it does not use LEAPP.
struct Policy : torch::nn::Module {
  Policy() {
    hidden = register_module("hidden", torch::nn::Linear(6, 16));
    out = register_module("out", torch::nn::Linear(16, 2));
  }
  torch::Tensor forward(const torch::Tensor& obs) {
    return torch::tanh(out->forward(torch::elu(hidden->forward(obs))));
  }
  torch::nn::Linear hidden = nullptr, out = nullptr;
};

void export_policy(const std::string& folder) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(0);
  Policy policy;
  torch::Tensor action = torch::zeros({1, 2});

  leapp::start({.name = "from_cpp", .save_path = folder});
  for (int pass = 0; pass < 2; ++pass) {
    const auto sensed = annotate::input_tensors(
        "observe", {{"sensors", torch::randn({1, 4})}, {"last_action", action}});
    const torch::Tensor joined = torch::cat({sensed[0] * 0.1, sensed[1]}, -1);
    const auto obs =
        annotate::output_tensors("observe", {{"obs", joined}}, {.export_with = "onnx"});

    const auto seen = annotate::input_tensors("policy", {{"obs", obs[0]}});
    action = annotate::output_tensors("policy", {{"action", policy.forward(seen[0])}},
                                      {.export_with = "onnx"})[0];
  }
  leapp::stop();
  leapp::compile_graph();
}

void run(const std::string& yaml) {
  leapp::InferenceManager robot(yaml);
  for (int tick = 0; tick < 3; ++tick) {
    const leapp::Tensor sensors({1, 4}, {1.0F, 2.0F, 3.0F, 4.0F});
    const leapp::TensorMap outputs = robot.run_policy({{"observe/sensors", sensors}});
    const auto action = outputs.at("policy/action").values<float>();
    std::printf("tick %d: %.4f %.4f\n", tick, static_cast<double>(action[0]),
                static_cast<double>(action[1]));
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string folder = argc > 1 ? argv[1] : ".";
  export_policy(folder);
  run(folder + "/from_cpp/from_cpp.yaml");
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
