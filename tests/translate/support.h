// Bundles of TorchScript models that no trace has seen.
#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/module.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "../core/runtime/support.h"
#include "base/folder_tree.h"
#include "bundle/golden_traces.h"
#include "bundle/safetensors.h"
#include "bundle/staging.h"
#include "bundle/verified_files.h"

namespace leapp::translate::testing {

/// A directory with one bundle of another exporter. Removed by the destructor.
class ForeignBundle {
 public:
  ForeignBundle() {
    leapp::testing::find_libraries();
    std::filesystem::create_directories(folder_);
  }
  ~ForeignBundle() { remove_tree(folder_); }
  ForeignBundle(const ForeignBundle&) = delete;
  ForeignBundle& operator=(const ForeignBundle&) = delete;

  std::filesystem::path yaml() const { return folder_ / "w.yaml"; }
  std::filesystem::path file(const std::string& node) const { return folder_ / (node + ".pt"); }
  Bundle& bundle() { return bundle_; }

  /// Adds a node whose forward() has this source. Its ports have the shape [1, 4].
  void add(const std::string& name, const std::string& source,
           const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
    torch::jit::Module module(name);
    module.register_buffer("weight", at::full({4}, 2));
    module.define(source);
    module.save(file(name).string());
    Model model;
    model.name = name;
    for (const std::string& each : inputs) model.inputs.push_back(leapp::testing::port(each));
    for (const std::string& each : outputs) model.outputs.push_back(leapp::testing::port(each));
    model.backend = "jit";
    model.file = entry_of(file(name));
    bundle_.models.push_back(std::move(model));
  }

  /// Adds one golden tick, with this value of an input in all of its elements.
  void add_golden(const PortRef& input, float value) {
    const Tensor tensor = filled(value);
    const std::vector<NamedTensorView> tensors = {{golden_name(0, true, input), tensor.view()}};
    const GoldenNotes notes{1, {}, {}, {}};
    write_safetensors(folder_ / "w_golden.safetensors", tensors, notes.metadata());
    bundle_.pipeline.golden = entry_of(folder_ / "w_golden.safetensors");
  }

  std::filesystem::path write() {
    write_bytes(yaml(), to_yaml(bundle_));
    return yaml();
  }

  /// Returns a tensor of the shape [1, 4].
  static Tensor filled(float value) {
    Tensor tensor(DType::kFloat32, {1, 4});
    for (int i = 0; i < 4; ++i) static_cast<float*>(tensor.data())[i] = value;
    return tensor;
  }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("leapp_foreign_" + std::to_string(getpid())) / "w";
  Bundle bundle_;
};

inline constexpr const char* kDouble = "def forward(self, x):\n    return x * self.weight\n";

/// TorchScript that ONNX cannot express.
inline constexpr const char* kLoop = R"(
def forward(self, x):
    y = x
    while bool(y.sum() < 100.0):
        y = y * y + 1.0
    return y
)";

}  // namespace leapp::translate::testing
