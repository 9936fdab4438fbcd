// The robot of balance.py in MuJoCo, controlled by the exported bundle and without libtorch.
//
//   07_mujoco_balance balancer/balancer.yaml [--seed N] [--episodes N] [--fast]
// One tick every two milliseconds in real time (--fast: as fast as possible). At the end of an
// episode the
// robot and the controller's state are reset.
#include <mujoco/mujoco.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "leapp/inference_manager.h"

namespace {

constexpr int kFrequency = 500;
constexpr int kEpisode = 6 * kFrequency;  // ticks, unless it falls
constexpr int kCommandEvery = 2 * kFrequency;
constexpr double kFallen = -0.6;  // gravity along the mast
constexpr std::chrono::nanoseconds kPeriod{1'000'000'000 / kFrequency};

// splitmix64, as in balance.py.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  double uniform(double low, double high) {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return low + (high - low) * static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

class Simulation {
 public:
  Simulation(const std::filesystem::path& xml, std::uint64_t seed) : random_(seed) {
    std::array<char, 500> error{};
    model_.reset(mj_loadXML(xml.c_str(), nullptr, error.data(), static_cast<int>(error.size())));
    if (!model_) throw std::runtime_error(error.data());
    data_.reset(mj_makeData(model_.get()));
    reset();
  }

  // Starts an episode: tilted a little, rolling a little.
  void reset() {
    mj_resetData(model_.get(), data_.get());
    const double tilt = random_.uniform(-0.15, 0.15);
    data_->qpos[3] = std::cos(tilt / 2);
    data_->qpos[5] = std::sin(tilt / 2);
    data_->qvel[4] = random_.uniform(-0.5, 0.5);
    ticks_ = 0;
    ask();
    mj_forward(model_.get(), data_.get());
  }

  std::array<float, 3> gyro() const { return floats<3>(data_->sensordata); }
  std::array<float, 2> wheels() const { return floats<2>(data_->sensordata + 3); }
  std::array<float, 2> command() const { return floats<2>(command_.data()); }
  // Returns the direction of gravity in the chassis frame.
  std::array<float, 3> gravity() const {
    const mjtNum* up = data_->xmat + 9 + 6;  // of body 1, the chassis
    return floats<3>(std::array{-up[0], -up[1], -up[2]}.data());
  }

  // Simulates two milliseconds; returns the reward.
  double step(const float* torque) {
    data_->ctrl[0] = static_cast<double>(torque[0]);
    data_->ctrl[1] = static_cast<double>(torque[1]);
    mj_step(model_.get(), data_.get());
    const double speed = data_->sensordata[5] - command_[0];
    const double turning = data_->sensordata[2] - command_[1];
    const double effort = data_->ctrl[0] * data_->ctrl[0] + data_->ctrl[1] * data_->ctrl[1];
    if (++ticks_ % kCommandEvery == 0) ask();
    return 0.6 * std::exp(-8 * speed * speed) + 0.4 * std::exp(-4 * turning * turning) -
           0.02 * effort;
  }

  bool over() const { return -data_->xmat[9 + 8] > kFallen || ticks_ == kEpisode; }

 private:
  struct Delete {
    void operator()(mjModel* model) const { mj_deleteModel(model); }
    void operator()(mjData* data) const { mj_deleteData(data); }
  };

  template <std::size_t count>
  static std::array<float, count> floats(const mjtNum* values) {
    std::array<float, count> result;
    for (std::size_t i = 0; i < count; ++i) result[i] = static_cast<float>(values[i]);
    return result;
  }

  void ask() {
    command_[0] = random_.uniform(-0.6, 0.6);
    command_[1] = random_.uniform(-1.0, 1.0);
  }

  Random random_;
  std::unique_ptr<mjModel, Delete> model_;
  std::unique_ptr<mjData, Delete> data_;
  std::array<double, 2> command_{};  // forward and turning speed
  int ticks_ = 0;
};

struct Options {
  std::filesystem::path yaml = "balancer/balancer.yaml";
  std::uint64_t seed = 1;
  int episodes = 3;
  bool fast = false;
};

constexpr const char* kUsage =
    "usage: 07_mujoco_balance [bundle.yaml] [--seed N] [--episodes N] [--fast]\n"
    "  bundle.yaml     balancer/balancer.yaml unless given\n"
    "  --seed N        of pushes and commands (1)\n"
    "  --episodes N    how many (3)\n"
    "  --fast          do not wait for real time";

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--fast") {
      options.fast = true;
    } else if (word == "--seed" && i + 1 < argc) {
      options.seed = std::stoull(argv[++i]);
    } else if (word == "--episodes" && i + 1 < argc) {
      options.episodes = std::stoi(argv[++i]);
    } else if (word == "--help" || word == "-h") {
      std::printf("%s\n", kUsage);
      std::exit(0);
    } else if (word.starts_with('-')) {
      throw std::invalid_argument("cannot read the argument  " + std::string(word) + "\n" + kUsage);
    } else {
      options.yaml = word;
    }
  }
  return options;
}

void print(const std::string& name, const leapp::LatencySummary& took) {
  const auto us = [](std::chrono::nanoseconds time) {
    return static_cast<double>(time.count()) / 1e3;
  };
  std::printf("%-24s p50 %6.1f us  p99 %6.1f us  p99.9 %6.1f us  max %6.1f us\n", name.c_str(),
              us(took.p50), us(took.p99), us(took.p999), us(took.max));
}

void control(const Options& options) {
  leapp::InferenceManager controller(
      options.yaml, {.finite = {.inputs = true}, .deadline = kPeriod, .measure = true});
  const leapp::InputPort gyro = controller.input_port("observe/gyro");
  const leapp::InputPort gravity = controller.input_port("observe/gravity");
  const leapp::InputPort wheels = controller.input_port("observe/wheels");
  const leapp::InputPort command = controller.input_port("observe/command");
  const leapp::OutputPort torque = controller.output_port("drive/torque");
  controller.prepare();
  controller.reset_statistics();

  Simulation robot(std::filesystem::path(LEAPP_EXAMPLE_FOLDER) / "robot.xml", options.seed);
  auto next = std::chrono::steady_clock::now();
  for (int episode = 0; episode < options.episodes; ++episode) {
    double total = 0;
    int ticks = 0;
    for (; !robot.over(); ++ticks) {
      controller.set_input(gyro, robot.gyro()).value();
      controller.set_input(gravity, robot.gravity()).value();
      controller.set_input(wheels, robot.wheels()).value();
      controller.set_input(command, robot.command()).value();
      controller.tick().value();
      total += robot.step(static_cast<const float*>(controller.output(torque).data));
      if (!options.fast) std::this_thread::sleep_until(next += kPeriod);
    }
    std::printf("episode %d, C++: return %.4f in %d ticks\n", episode, total, ticks);
    robot.reset();
    controller.reset();
  }

  const leapp::Statistics statistics = controller.statistics();
  print("a tick", statistics.tick);
  for (const auto& [name, took] : statistics.nodes) print("  " + name, took);
  std::printf("%llu of %llu ticks took longer than %.1f ms\n",
              static_cast<unsigned long long>(statistics.deadline_misses),
              static_cast<unsigned long long>(statistics.tick.count),
              static_cast<double>(kPeriod.count()) / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    control(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
