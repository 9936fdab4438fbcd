// Helpers for the tests of controllers: a bundle whose policy is a function, a robot, a clock.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "../runtime/support.h"
#include "base/hash.h"
#include "leapp/controller.h"
#include "leapp/error.h"

namespace leapp::testing {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Floats = std::span<float>;
/// Reads inputs and writes outputs, both in the order of the ports. Returns false for a failed
/// tick.
using PolicyFunction =
    std::function<bool(std::span<const Floats> inputs, std::span<const Floats> outputs)>;

/// Runs a function in place of a model.
class FunctionEngine final : public Engine {
 public:
  explicit FunctionEngine(const PolicyFunction& function) : function_(function) {}
  std::string description() const override { return "function"; }
  std::unique_ptr<Binding> bind(std::span<const ConstTensorView> inputs,
                                std::span<const TensorView> outputs) override {
    return std::make_unique<Run>(function_, inputs, outputs);
  }

 private:
  class Run final : public Binding {
   public:
    Run(const PolicyFunction& function, std::span<const ConstTensorView> inputs,
        std::span<const TensorView> outputs)
        : function_(function) {
      for (const ConstTensorView& view : inputs) {
        inputs_.emplace_back(static_cast<float*>(const_cast<void*>(view.data)),
                             static_cast<std::size_t>(element_count(view.shape)));
      }
      for (const TensorView& view : outputs) {
        outputs_.emplace_back(static_cast<float*>(view.data),
                              static_cast<std::size_t>(element_count(view.shape)));
      }
    }
    void rebind_input(std::size_t, const ConstTensorView&) override {}
    void rebind_output(std::size_t, const TensorView&) override {}
    Result<void> run() noexcept override {
      if (function_(inputs_, outputs_)) return {};
      return Failure(Code::kTickFailed, "the test's policy failed");
    }

   private:
    const PolicyFunction& function_;
    std::vector<Floats> inputs_;
    std::vector<Floats> outputs_;
  };

  const PolicyFunction& function_;
};

inline Port named_port(const std::string& name, const std::string& kind,
                       std::vector<std::string> elements, const PortContract& contract = {}) {
  Port port{name, DType::kFloat32, {1, static_cast<std::int64_t>(elements.size())}, {}};
  port.semantics.kind = kind;
  port.semantics.element_names = ElementNames{std::move(elements)};
  add_contract(port.semantics, contract);
  return port;
}

/// A bundle of one node "pi" in its own directory, and a clock that the test sets. It must outlive
/// the controllers that use it.
class PolicyBench {
 public:
  PolicyBench() {
    static int count = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("leapp_controller_" + std::to_string(getpid()) + "_" + std::to_string(count++));
    std::filesystem::create_directories(folder_);
  }
  ~PolicyBench() { std::filesystem::remove_all(folder_); }
  PolicyBench(const PolicyBench&) = delete;
  PolicyBench& operator=(const PolicyBench&) = delete;

  Robot robot{.rate = 100};
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  GraphContract contract{.frequency = 50};
  PolicyFunction policy;
  ControllerOptions options;
  std::chrono::nanoseconds now{0};

  /// Adds a state with that many elements: the last input and the last output, connected by
  /// feedback.
  void add_state(const std::string& name, std::int64_t elements) {
    inputs.push_back({name, DType::kFloat32, {1, elements}, {}});
    outputs.push_back({name + "_next", DType::kFloat32, {1, elements}, {}});
    state_ = name;
  }

  const std::filesystem::path& folder() const { return folder_; }

  Bundle bundle() const {
    Bundle bundle;
    Model model;
    model.name = "pi";
    model.backend = "onnx";
    model.inputs = inputs;
    model.outputs = outputs;
    std::ofstream(folder_ / "pi.onnx") << "a function";
    const Checksums sums = hash_file(folder_ / "pi.onnx");
    model.file = FileEntry{"pi.onnx", sums.md5, sums.sha256};
    bundle.pipeline.inputs = {{"pi", {}}};
    bundle.pipeline.outputs = {{"pi", {}}};
    for (const Port& port : inputs) {
      if (port.name != state_) bundle.pipeline.inputs[0].ports.push_back(port.name);
    }
    for (const Port& port : outputs) {
      if (port.name != state_ + "_next") bundle.pipeline.outputs[0].ports.push_back(port.name);
    }
    if (!state_.empty()) {
      bundle.pipeline.feedback_flow.push_back({{"pi", state_ + "_next"}, {{"pi", state_}}});
    }
    add_contract(bundle.pipeline.configs, contract);
    bundle.models.push_back(std::move(model));
    return bundle;
  }

  std::filesystem::path write() const {
    std::ofstream(folder_ / "test.yaml") << to_yaml(bundle());
    return folder_ / "test.yaml";
  }

  ControllerOptions controller_options() {
    ControllerOptions all = options;
    all.runtime.engines.add("onnx", [this](const Model&, const ModelFile&, const EngineOptions&) {
      return std::make_unique<FunctionEngine>(policy);
    });
    if (!all.clock) all.clock = [this] { return now; };
    return all;
  }

  Controller make() { return Controller(write(), robot, controller_options()); }

 private:
  std::filesystem::path folder_;
  std::string state_;
};

/// Returns two joints, measured and driven: the policy outputs twice its input. The policy's order
/// is hip, knee; the robot's is knee, hip.
inline void add_legs(PolicyBench& bench, const PortContract& target = {}) {
  bench.robot.joints = {"knee", "hip"};
  bench.robot.sensors = {
      {.name = "q", .kind = "state/joint/position", .elements = {"knee", "hip"}}};
  bench.robot.actuators = {
      {.name = "target", .kind = "target/joint/position", .elements = {"knee", "hip"}}};
  bench.inputs = {named_port("q", "state/joint/position", {"hip", "knee"})};
  bench.outputs = {named_port("action", "target/joint/position", {"hip", "knee"}, target)};
  bench.policy = [](std::span<const Floats> in, std::span<const Floats> out) {
    for (std::size_t i = 0; i < out[0].size(); ++i) out[0][i] = 2 * in[0][i % in[0].size()];
    return true;
  };
}

inline std::vector<double> values(std::span<const double> span) {
  return {span.begin(), span.end()};
}

}  // namespace leapp::testing
