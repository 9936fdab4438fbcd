// A Unitree Go1 follows velocity commands, with the bundle of mjlab's task in MuJoCo. No torch, no
// Python.
//
//   08_go1_walks go1.xml [bundle.yaml] [--starts N] [--trace FILE]
// go1.xml is mjlab's file of the robot. --starts N: N walks from different poses, with pushes.
// --trace: the
// walk as CSV, one line per tick.
#include <mujoco/mujoco.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "leapp/inference_manager.h"
#include "robot.h"

namespace {

constexpr int kTicks = 20 * 50;  // 20 s at 50 Hz
constexpr int kPushEvery = 3 * 50;

struct Command {
  float forward, left, turn;  // m/s, m/s, rad/s
};

// Returns the command, which changes every four seconds.
Command command_at(int tick) {
  constexpr Command kAsked[] = {
      {0.8F, 0, 0}, {1.2F, 0, 0}, {0.6F, 0, 0.6F}, {0, 0.4F, 0}, {-0.5F, 0, 0}};
  return kAsked[tick / 200];
}

struct Walk {
  double speed_error = 0;  // mean difference between measured and commanded velocity, m/s
  double turn_error = 0;   // rad/s
  int ticks = 0;           // time of the fall, if it fell
};

Walk walk(leapp::InferenceManager& policy, Robot& robot, std::mt19937* pushes,
          std::ostream* trace) {
  const auto lin_vel = policy.input_port("policy/imu_lin_vel");
  const auto ang_vel = policy.input_port("policy/imu_ang_vel");
  const auto gravity = policy.input_port("policy/robot_projected_gravity_b");
  const auto joint_pos = policy.input_port("policy/robot_joint_pos_biased");
  const auto joint_vel = policy.input_port("policy/robot_joint_vel");
  const auto twist = policy.input_port("policy/twist");
  const auto target = policy.output_port("policy/joint_pos_target");

  policy.reset();
  Walk result;
  for (int tick = 0; tick < kTicks && !robot.fallen(); ++tick, ++result.ticks) {
    const Command asked = command_at(tick);
    policy.set_input(lin_vel, robot.sensor("imu_lin_vel")).value();
    policy.set_input(ang_vel, robot.sensor("imu_ang_vel")).value();
    policy.set_input(gravity, robot.gravity()).value();
    policy.set_input(joint_pos, robot.joint_positions()).value();
    policy.set_input(joint_vel, robot.joint_velocities()).value();
    policy.set_input(twist, std::array{asked.forward, asked.left, asked.turn}).value();
    policy.tick().value();
    if (trace != nullptr) robot.write(*trace, {asked.forward, asked.left, asked.turn});

    robot.step(static_cast<const float*>(policy.output(target).data));
    if (pushes != nullptr && tick % kPushEvery == kPushEvery - 1) robot.push(*pushes);
    const std::vector<float> v = robot.sensor("imu_lin_vel");
    result.speed_error += std::hypot(v[0] - asked.forward, v[1] - asked.left);
    result.turn_error += std::abs(robot.sensor("imu_ang_vel")[2] - asked.turn);
  }
  result.speed_error /= result.ticks;
  result.turn_error /= result.ticks;
  return result;
}

// Returns the joints in the policy's order, with the gains and the pose of the bundle.
std::vector<Robot::Joint> joints_of(leapp::InferenceManager& policy) {
  const leapp::TensorMap outputs = policy.run_policy(policy.get_mock_input());
  const auto stiffness = outputs.at("policy/joint_pos_kp_gains").values<float>();
  const auto damping = outputs.at("policy/joint_pos_kd_gains").values<float>();
  const auto rest = outputs.at("policy/joint_pos_default").values<float>();
  const leapp::Port* target = policy.bundle().models[0].find_output("joint_pos_target");
  const auto& names = std::get<std::vector<std::string>>(target->semantics.element_names->back());
  std::vector<Robot::Joint> joints;
  for (std::size_t i = 0; i < names.size(); ++i)
    joints.push_back({names[i], stiffness[i], damping[i], rest[i]});
  return joints;
}

void print(const char* name, int number, const Walk& walk) {
  std::printf("%s %d: %s after %.2f s, off by %.3f m/s and %.3f rad/s\n", name, number,
              walk.ticks == kTicks ? "on its feet" : "fallen", walk.ticks / 50.0, walk.speed_error,
              walk.turn_error);
}

void run(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  int starts = 0;
  std::ofstream trace;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--starts" && i + 1 < words.size())
      starts = std::stoi(words[++i]);
    else if (words[i] == "--trace" && i + 1 < words.size())
      trace.open(words[++i]);
    else
      files.push_back(words[i]);
  }
  if (files.empty() || files.size() > 2 || files[0].starts_with('-'))
    throw std::invalid_argument(
        "usage: 08_go1_walks go1.xml [bundle.yaml] [--starts N] [--trace FILE]");
  const std::string carried = LEAPP_EXAMPLE_FOLDER "/go1/go1.yaml";
  leapp::InferenceManager policy(files.size() > 1 ? files[1] : carried);
  Robot robot(files[0], joints_of(policy));
  print("walk", 0, walk(policy, robot, nullptr, trace.is_open() ? &trace : nullptr));

  std::mt19937 generator(1);
  std::uniform_real_distribution<double> yaw(-mjPI, mjPI);
  for (int start = 1; start <= starts; ++start) {
    robot.stand(yaw(generator), &generator);
    print("start", start, walk(policy, robot, &generator, nullptr));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
