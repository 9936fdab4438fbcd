// The cost of a controller over the raw tick, and the timing of a loop at 1 kHz.
//
//   bench_controller                    nanoseconds of update(), and of the same through maps
//   bench_controller --loop SECONDS     a 1 kHz loop with a 50 Hz policy and a second busy core
//
// prints one JSON object. The policy is a function that copies (12 joints, 3 sensors), so only the
// code around a policy is measured. "maps" is a common way to write it: each value goes through a
// map from names to values and a vector that is created in each tick. The variants alternate in
// short rounds; the result is the median of the rounds.
#include "leapp/controller.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr std::size_t kJoints = 12;

std::vector<std::string> joint_names(bool reversed) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kJoints; ++i) names.push_back("joint_" + std::to_string(i));
  if (reversed) std::reverse(names.begin(), names.end());
  return names;
}

// Runs instead of a model: the joint positions are the targets.
class CopyEngine final : public leapp::Engine {
 public:
  class Run final : public leapp::Binding {
   public:
    Run(const void* from, void* to) : from_(from), to_(to) {}
    void rebind_input(std::size_t, const leapp::ConstTensorView& view) override {
      from_ = view.data;
    }
    void rebind_output(std::size_t, const leapp::TensorView& view) override { to_ = view.data; }
    leapp::Result<void> run() noexcept override {
      std::memcpy(to_, from_, kJoints * sizeof(float));
      return {};
    }

   private:
    const void* from_;
    void* to_;
  };
  std::string description() const override { return "copies"; }
  std::unique_ptr<leapp::Binding> bind(std::span<const leapp::ConstTensorView> inputs,
                                       std::span<const leapp::TensorView> outputs) override {
    return std::make_unique<Run>(inputs[0].data, outputs[0].data);
  }
};

leapp::Port named_port(const std::string& name, const std::string& kind,
                       std::vector<std::string> names, const std::string& unit) {
  leapp::Port port{name, leapp::DType::kFloat32, {1, static_cast<std::int64_t>(names.size())}, {}};
  port.semantics.kind = kind;
  port.semantics.element_names = leapp::ElementNames{std::move(names)};
  leapp::add_contract(port.semantics, {.unit = unit});
  return port;
}

class Bench {
 public:
  Bench()
      : folder_(std::filesystem::temp_directory_path() /
                ("leapp_bench_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "pi.onnx").put('x');
    leapp::Model model;
    model.name = "pi";
    model.backend = "onnx";
    // The checksum of a file that contains one letter.
    model.file = leapp::FileEntry{
        "pi.onnx", "", "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"};
    model.inputs = {named_port("q", "state/joint/position", joint_names(false), "rad"),
                    named_port("gyro", "state/body/angular_velocity", {"x", "y", "z"}, "rad/s"),
                    named_port("command", "command/body/velocity", {"x", "y", "yaw"}, "m/s")};
    model.outputs = {named_port("target", "target/joint/position", joint_names(false), "rad")};
    leapp::add_contract(model.outputs[0].semantics,
                        {.limits = leapp::Limits{{-3}, {3}, {1000}}, .fallback = leapp::Hold{}});
    leapp::Bundle bundle;
    bundle.pipeline.inputs = {{"pi", {"q", "gyro", "command"}}};
    bundle.pipeline.outputs = {{"pi", {"target"}}};
    bundle.models.push_back(std::move(model));
    std::ofstream(yaml()) << leapp::to_yaml(bundle);
    const std::vector<std::string> joints = joint_names(true);
    robot.joints = joints;
    robot.sensors = {
        {.name = "q", .kind = "state/joint/position", .elements = joints, .unit = "deg"},
        {.name = "gyro", .kind = "state/body/angular_velocity", .elements = {"z", "y", "x"}},
        {.name = "command", .kind = "command/body/velocity", .elements = {"x", "y", "yaw"}}};
    robot.actuators = {
        {.name = "target", .kind = "target/joint/position", .elements = joints, .unit = "deg"}};
    runtime.engines.add(
        "onnx", [](const leapp::Model&, const leapp::ModelFile&, const leapp::EngineOptions&) {
          return std::make_unique<CopyEngine>();
        });
  }
  ~Bench() { std::filesystem::remove_all(folder_); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  std::filesystem::path yaml() const { return folder_ / "bench.yaml"; }

  leapp::Robot robot;
  leapp::RuntimeOptions runtime;

 private:
  std::filesystem::path folder_;
};

// Looks up names, values and order in every tick.
class ThroughMaps {
 public:
  explicit ThroughMaps(leapp::InferenceManager& manager)
      : manager_(manager), joints_(joint_names(false)) {}

  void update(const std::map<std::string, double>& state, std::map<std::string, double>& targets) {
    std::map<std::string, std::vector<float>> inputs;
    for (const std::string& joint : joints_) {
      inputs["pi/q"].push_back(static_cast<float>(state.at(joint) * 0.017453292519943295));
    }
    for (const char* const axis : {"x", "y", "z"}) {
      inputs["pi/gyro"].push_back(static_cast<float>(state.at(std::string("gyro/") + axis)));
      inputs["pi/command"].push_back(static_cast<float>(state.at(std::string("command/") + axis)));
    }
    for (const auto& [name, values] : inputs) {
      if (!manager_.set_input(manager_.input_port(name), values)) std::abort();
    }
    if (!manager_.tick()) std::abort();
    const auto values = manager_.output(manager_.output_port("pi/target")).values<float>();
    for (std::size_t i = 0; i < kJoints; ++i) {
      const double bounded = std::clamp(static_cast<double>(values[i]), -3.0, 3.0);
      targets[joints_[i]] = bounded / 0.017453292519943295;
    }
  }

 private:
  leapp::InferenceManager& manager_;
  std::vector<std::string> joints_;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

double nanoseconds_of(const std::function<void()>& call) {
  constexpr int kCalls = 500;
  const auto start = Clock::now();
  for (int i = 0; i < kCalls; ++i) call();
  return static_cast<double>(nanoseconds(Clock::now() - start).count()) / kCalls;
}

void compare() {
  constexpr double kRate = 1000;
  Bench bench;
  bench.robot.rate = kRate;
  leapp::InferenceManager manager(bench.yaml(), bench.runtime);
  std::vector<float> q(kJoints, 0.1F);
  const std::vector<float> three(3, 0.2F);
  const std::array ports = {manager.input_port("pi/q"), manager.input_port("pi/gyro"),
                            manager.input_port("pi/command")};
  leapp::Controller controller(bench.yaml(), bench.robot,
                               {.runtime = bench.runtime, .frequency = kRate});
  controller.start();
  const std::vector<double> degrees(kJoints, 5.0);
  const std::vector<double> rates(3, 0.2);
  ThroughMaps maps(manager);
  std::map<std::string, double> state = {{"gyro/x", 0},    {"gyro/y", 0},    {"gyro/z", 0},
                                         {"command/x", 0}, {"command/y", 0}, {"command/z", 0}};
  for (const std::string& joint : joint_names(false)) state[joint] = 5;
  std::map<std::string, double> targets;
  std::vector<double> raw;
  std::vector<double> ours;
  std::vector<double> theirs;
  for (int round = 0; round < 400; ++round) {
    raw.push_back(nanoseconds_of([&] {
      leapp::Result<void> done = manager.set_input(ports[0], q);
      if (done) done = manager.set_input(ports[1], three);
      if (done) done = manager.set_input(ports[2], three);
      if (done) done = manager.tick();
      if (!done) std::abort();
    }));
    ours.push_back(nanoseconds_of([&] {
      controller.set_sensor(0, degrees).value();
      controller.set_sensor(1, rates).value();
      controller.set_sensor(2, rates).value();
      if (controller.update() != leapp::ControllerState::kRunning) std::abort();
    }));
    theirs.push_back(nanoseconds_of([&] { maps.update(state, targets); }));
  }
  std::printf("{\"tick_ns\": %.0f, \"update_ns\": %.0f, \"maps_ns\": %.0f}\n", median(raw),
              median(ours), median(theirs));
}

// Counts ticks that start more than a tenth of a period, or a whole one, late.
void loop(double seconds) {
  Bench bench;
  bench.robot.rate = 1000;
  leapp::Controller controller(
      bench.yaml(), bench.robot,
      {.runtime = bench.runtime, .frequency = 50, .execution = leapp::Execution::kWorker});
  controller.start();
  std::atomic<bool> running{true};
  std::thread busy([&] {
    while (running.load(std::memory_order_relaxed)) {
    }
  });
  const std::vector<double> values(kJoints, 1.0);
  const auto ticks = static_cast<std::uint64_t>(seconds * 1000);
  std::uint64_t late = 0;
  std::uint64_t missed = 0;
  nanoseconds longest{0};
  auto due = Clock::now();
  for (std::uint64_t i = 0; i < ticks; ++i) {
    due += std::chrono::milliseconds(1);
    std::this_thread::sleep_until(due);
    const auto began = Clock::now();
    if (began - due > std::chrono::microseconds(100)) ++late;
    if (began - due > std::chrono::milliseconds(1)) ++missed;
    for (std::size_t s = 0; s < 3; ++s) {
      controller.set_sensor(s, std::span(values).first(s == 0 ? kJoints : 3)).value();
    }
    controller.update();
    longest = std::max<nanoseconds>(longest, Clock::now() - began);
  }
  running = false;
  busy.join();
  const auto& counts = controller.counts();
  std::printf(
      "{\"ticks\": %llu, \"begun_late\": %llu, \"begun_a_period_late\": %llu, "
      "\"longest_update_us\": %.1f, \"policy_late\": %llu}\n",
      static_cast<unsigned long long>(ticks), static_cast<unsigned long long>(late),
      static_cast<unsigned long long>(missed), static_cast<double>(longest.count()) / 1e3,
      static_cast<unsigned long long>(counts[static_cast<std::size_t>(leapp::Cause::kLate)]));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--loop") {
    loop(std::atof(argv[2]));
  } else {
    compare();
  }
}
