// A Unitree Go1 stands, walks, is stopped and stands up again: two bundles and a supervisor, in
// MuJoCo. Needs neither torch nor Python.
//
//   11_go1_switches go1.xml [recording.mcap]
//
// go1.xml is mjlab's file of the robot. The program sets the sensors and the command and sends the
// supervisor's targets; supervisor.yaml defines when to switch.
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "../08_go1_walks/robot.h"
#include "leapp/contract.h"
#include "leapp/supervisor.h"

namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

const std::filesystem::path kFolder = LEAPP_EXAMPLE_FOLDER;

/// Returns the commanded speed in m/s: rest, walk, and rest again.
double command_at(double time) {
  return time >= 2 && time < 8 ? 0.8 : 0;
}

/// Returns the joints in the robot's order, at rest in the pose of the walking policy. Their gains
/// come with each tick.
std::vector<Robot::Joint> joints_of(const leapp::Supervisor& supervisor) {
  const leapp::Bundle& walk = supervisor.bundle(supervisor.policy("walk"));
  const auto pose = leapp::contract_of(walk.pipeline).default_pose;
  std::vector<Robot::Joint> joints;
  for (const std::string& name : supervisor.robot().joints) {
    for (const auto& [joint, rest] : pose) {
      if (joint == name) joints.push_back({name, 0, 0, rest});
    }
  }
  return joints;
}

class Simulation {
 public:
  Simulation(const std::string& xml, const std::string& recording)
      : supervisor_(leapp::read_supervision(kFolder / "supervisor.yaml"),
                    leapp::read_robot(kFolder / "robot.yaml"),
                    {.clock = [this] { return time_; }, .recording = recording}),
        robot_(xml, joints_of(supervisor_)) {
    supervisor_.start();
  }

  /// Runs to that second of the simulation.
  void run_until(std::chrono::seconds end) {
    while (time_ < end) tick();
  }

  leapp::Supervisor& supervisor() { return supervisor_; }
  const Robot& robot() const { return robot_; }

 private:
  void set(const char* sensor, const std::vector<float>& values) {
    const std::vector<double> doubles(values.begin(), values.end());
    supervisor_.set_sensor(supervisor_.sensor(sensor), doubles).value();
  }

  void tick() {
    const double command = command_at(static_cast<double>(time_.count()) * 1e-9);
    const std::vector<float> velocity = robot_.sensor("imu_lin_vel");
    set("joint_pos", robot_.joint_positions());
    set("joint_vel", robot_.joint_velocities());
    set("lin_vel", velocity);
    set("ang_vel", robot_.sensor("imu_ang_vel"));
    set("gravity", robot_.gravity());
    set("command", {static_cast<float>(command), 0, 0});
    const bool at_rest = command == 0 && std::hypot(velocity[0], velocity[1]) < 0.1F;
    supervisor_.set_flag(supervisor_.flag("at_rest"), at_rest).value();
    supervisor_.update();
    robot_.set_gains(actuator("stiffness"), actuator("damping"));
    robot_.step(actuator("joint_target"), 1);
    time_ += 5ms;
  }

  const double* actuator(const char* name) {
    return supervisor_.actuator_values(supervisor_.actuator(name)).data();
  }

  nanoseconds time_{0};
  leapp::Supervisor supervisor_;
  Robot robot_;
};

void run(const std::string& xml, const std::string& recording) {
  Simulation simulation(xml, recording);
  leapp::Supervisor& supervisor = simulation.supervisor();
  simulation.run_until(12s);
  const double walked = simulation.robot().position()[0];
  const double standing = simulation.robot().position()[2];
  supervisor.emergency_stop();
  simulation.run_until(14s);
  const double lying = simulation.robot().position()[2];
  supervisor.clear_emergency_stop();
  supervisor.request(supervisor.policy("stand")).value();
  simulation.run_until(18s);

  for (const leapp::SwitchRecord& one : supervisor.switches()) {
    const std::string& policy = supervisor.supervision().policies[one.policy].name;
    std::printf("%6.2f s  %s %s\n", static_cast<double>(one.tick) / supervisor.robot().rate,
                name_of(one.event).data(), policy.c_str());
  }
  std::printf("walked %.2f m; the trunk was at %.2f m, at %.2f m in the stop, and is at %.2f m\n",
              walked, standing, lying, simulation.robot().position()[2]);
  std::printf("%s\n", simulation.robot().fallen() ? "fallen" : "on its feet");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: 11_go1_switches go1.xml [recording.mcap]\n");
    return 2;
  }
  try {
    run(argv[1], argc > 2 ? argv[2] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
