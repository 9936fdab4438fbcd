// Builds bundles from the small model files, in a directory that is removed with the object.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "bundle/safetensors.h"
#include "leapp/bundle.h"
#include "leapp/tensor.h"
#include "support.h"

namespace leapp::testing {

class TestBundle {
 public:
  TestBundle() {
    static int count = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("leapp_test_" + std::to_string(getpid()) + "_" + std::to_string(count++));
    std::filesystem::create_directories(folder_);
  }
  ~TestBundle() { std::filesystem::remove_all(folder_); }
  TestBundle(const TestBundle&) = delete;
  TestBundle& operator=(const TestBundle&) = delete;

  /// Adds a node that runs a file of tests/data/models; without a file it has no model.
  TestBundle& node(const std::string& name, const std::string& file, std::vector<Port> inputs,
                   std::vector<Port> outputs) {
    Model model;
    model.name = name;
    model.inputs = std::move(inputs);
    model.outputs = std::move(outputs);
    if (!file.empty()) {
      model.backend = file.ends_with(".pt") ? "jit" : "onnx";
      if (*model.backend == "onnx") model.opset_version = 20;
      const std::string path = name + std::filesystem::path(file).extension().string();
      std::filesystem::copy_file(model_file(file), folder_ / path);
      model.file = hashed(path);
    }
    bundle_.models.push_back(std::move(model));
    return *this;
  }

  TestBundle& wire(const std::string& from, const std::string& to) {
    return connect(bundle_.pipeline.data_flow, from, to);
  }
  TestBundle& feedback(const std::string& from, const std::string& to) {
    return connect(bundle_.pipeline.feedback_flow, from, to);
  }
  TestBundle& input(const std::string& port) { return list(bundle_.pipeline.inputs, port); }
  TestBundle& output(const std::string& port) { return list(bundle_.pipeline.outputs, port); }
  TestBundle& initial(const std::string& port, Tensor value) {
    initial_.emplace_back(port, std::move(value));
    return *this;
  }

  TestBundle& merged(std::vector<std::string> group) {
    if (!bundle_.pipeline.merged) bundle_.pipeline.merged.emplace();
    bundle_.pipeline.merged->push_back(std::move(group));
    return *this;
  }

  Bundle& bundle() { return bundle_; }
  const std::filesystem::path& folder() const { return folder_; }

  /// Writes the YAML and returns its path. If some initial values are given, all others are zeros.
  std::filesystem::path write() {
    if (!initial_.empty()) {
      for (const Wire& wire : bundle_.pipeline.feedback_flow) {
        for (const PortRef& target : wire.targets) {
          const auto is_target = [&](const auto& value) {
            return value.first == to_string(target);
          };
          if (std::none_of(initial_.begin(), initial_.end(), is_target)) {
            const Port& port = *bundle_.find_input(target);
            initial_.emplace_back(to_string(target), Tensor(port.dtype, port.shape));
          }
        }
      }
      std::vector<NamedTensorView> views;
      for (const auto& [name, tensor] : initial_) views.push_back({name, tensor.view()});
      write_safetensors(folder_ / "test_initial_values.safetensors", views);
      bundle_.pipeline.initial_values = hashed("test_initial_values.safetensors");
    }
    const std::filesystem::path yaml = folder_ / "test.yaml";
    std::ofstream(yaml) << to_yaml(bundle_);
    return yaml;
  }

 private:
  FileEntry hashed(const std::string& path) const {
    const Checksums sums = hash_file(folder_ / path);
    return {path, sums.md5, sums.sha256};
  }

  TestBundle& connect(std::vector<Wire>& flow, const std::string& from, const std::string& to) {
    const PortRef source = *parse_port_ref(from);
    for (Wire& wire : flow) {
      if (wire.source == source) {
        wire.targets.push_back(*parse_port_ref(to));
        return *this;
      }
    }
    flow.push_back({source, {*parse_port_ref(to)}});
    return *this;
  }

  TestBundle& list(std::vector<NodePorts>& nodes, const std::string& name) {
    const PortRef ref = *parse_port_ref(name);
    for (NodePorts& node : nodes) {
      if (node.node == ref.node) {
        node.ports.push_back(ref.port);
        return *this;
      }
    }
    nodes.push_back({ref.node, {ref.port}});
    return *this;
  }

  std::filesystem::path folder_;
  Bundle bundle_;
  std::vector<std::pair<std::string, Tensor>> initial_;
};

/// Returns a float32 tensor of shape [1, 4].
inline Tensor row(std::initializer_list<float> values) {
  return Tensor({1, 4}, values);
}

/// Adds a recurrent policy whose last action is fed back:
///   pre: f = 2 obs + 1;  policy: y = f + h, h' = y / 2;  post: action = clip(y + last, -1, 1)
/// All three are ONNX, and merged.
inline void add_policy(TestBundle& bundle) {
  bundle.node("pre", "affine.onnx", {port("x")}, {port("y")})
      .node("policy", "recurrent.onnx", {port("x"), port("h_in")}, {port("y"), port("h_out")})
      .node("post", "clamp_sum.onnx", {port("a"), port("b")}, {port("y")})
      .wire("pre/y", "policy/x")
      .wire("policy/y", "post/a")
      .feedback("policy/h_out", "policy/h_in")
      .feedback("post/y", "post/b")
      .input("pre/x")
      .output("post/y")
      .merged({"pre", "policy", "post"});
}

/// Computes the same in plain C++: one element, any number of ticks.
struct PolicyReference {
  float h = 0;
  float last = 0;
  float tick(float obs) {
    const float y = 2 * obs + 1 + h;
    h = y / 2;
    last = std::min(1.0f, std::max(-1.0f, y + last));
    return last;
  }
};

inline std::vector<float> floats(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

inline std::vector<float> floats(const TensorView& view) {
  return floats(Tensor(view));
}

/// Base of the tests of InferenceManager: a bundle to fill, and the engines' libraries.
class InferenceManagerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { find_libraries(); }
  TestBundle test;
};

}  // namespace leapp::testing
