#include "leapp/lifecycle_controller.h"

#include "support.h"

namespace leapp {
namespace {

using testing::add_legs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;
using testing::named_port;
using testing::PolicyBench;

constexpr const char* kRobot = R"(rate: 100
joints: [knee, hip, ankle]
sensors:
  q: {kind: state/joint/position, elements: [knee, hip]}
  tilt: {kind: state/vector3d, elements: [x], interfaces: "imu/gravity.{}"}
  cmd: {kind: command/body/velocity, elements: [vx]}
actuators:
  target: {kind: target/joint/position}
)";

/// Handles like those of a controller manager: numbers that others own.
struct StandInHandles {
  std::vector<double> states = {1, 2, 3};
  std::vector<double> commands = {0, 0, 42};

  std::vector<const double*> state_pointers() const { return {&states[0], &states[1], &states[2]}; }
  std::vector<double*> command_pointers() { return {&commands[0], &commands[1], &commands[2]}; }
};

class LifecycleControllerTest : public ::testing::Test {
 protected:
  LifecycleControllerTest() {
    add_legs(bench);
    bench.inputs.push_back(named_port("tilt", "state/vector3d", {"x"}));
    bench.inputs.push_back(named_port("cmd", "command/body/velocity", {"vx"}));
    bench.policy = [](auto in, auto out) {
      out[0][0] = in[0][0] + in[1][0];
      out[0][1] = in[2][0];
      return true;
    };
  }

  void configure(const std::string& robot = kRobot) {
    const std::filesystem::path file = bench.folder() / "robot.yaml";
    std::ofstream(file) << robot;
    controller.configure(bench.write(), file, bench.controller_options());
  }

  PolicyBench bench;
  StandInHandles handles;
  LifecycleController controller;
};

TEST_F(LifecycleControllerTest, RunsOverHandles) {
  configure();
  EXPECT_THAT(controller.state_interfaces(),
              ElementsAre("knee/position", "hip/position", "imu/gravity.x"));
  EXPECT_THAT(controller.command_interfaces(),
              ElementsAre("knee/position", "hip/position", "ankle/position"));
  EXPECT_EQ(controller.update(), ControllerState::kInactive);
  controller.activate(handles.state_pointers(), handles.command_pointers());
  EXPECT_TRUE(controller.set_command("cmd", std::array{7.0}));
  EXPECT_EQ(controller.update(), ControllerState::kRunning);
  EXPECT_THAT(handles.commands, ElementsAre(7, 5, 42));  // no output drives the ankle
  controller.deactivate();
  handles.commands = {0, 0, 0};
  EXPECT_EQ(controller.update(), ControllerState::kInactive);
  EXPECT_THAT(handles.commands, ElementsAre(0, 0, 0));
}

TEST_F(LifecycleControllerTest, SignalsOfJointsHaveTheInterfacesOfRos2Control) {
  configure(R"(rate: 100
joints: [hip, knee]
sensors:
  q: {kind: state/joint/position}
  dq: {kind: state/joint/velocity}
  tau: {kind: state/joint/torques}
  tilt: {kind: state/vector3d, elements: [x]}
  cmd: {kind: command/body/velocity, elements: [vx]}
actuators:
  target: {kind: target/joint/position}
  feedforward: {kind: target/joint/torques}
  stiffness: {kind: kp}
  damping: {kind: kd}
)");
  EXPECT_THAT(controller.state_interfaces(),
              ElementsAre("hip/position", "knee/position", "hip/velocity", "knee/velocity",
                          "hip/effort", "knee/effort"));
  EXPECT_THAT(controller.command_interfaces(),
              ElementsAre("hip/position", "knee/position", "hip/effort", "knee/effort", "hip/kp",
                          "knee/kp", "hip/kd", "knee/kd"));
}

TEST_F(LifecycleControllerTest, WaitsForTheFirstCommand) {
  configure();
  controller.activate(handles.state_pointers(), handles.command_pointers());
  EXPECT_EQ(controller.update(), ControllerState::kFallback);
  EXPECT_THAT(handles.commands, ElementsAre(0, 0, 42));
  EXPECT_FALSE(controller.set_command("cmd", std::array{1.0, 2.0}));
  EXPECT_FALSE(controller.set_command("q", std::array{1.0, 2.0}));  // has handles
  EXPECT_FALSE(controller.set_command("none", std::array{1.0}));
  EXPECT_TRUE(controller.is_command("cmd"));
  EXPECT_FALSE(controller.is_command("q"));
}

TEST_F(LifecycleControllerTest, CallsOutOfOrder) {
  EXPECT_THAT(message_of([&] { controller.state_interfaces(); }),
              HasSubstr("call configure() first [LP654]"));
  EXPECT_THAT(message_of([&] { controller.activate({}, {}); }), HasSubstr("configure() first"));
  controller.deactivate();
  EXPECT_FALSE(controller.set_command("cmd", std::array{1.0}));
  configure();
  EXPECT_THAT(message_of([&] { controller.activate({}, {}); }),
              HasSubstr("expected 3 state and 3 command handles, found 0 and 0"));
  auto states = handles.state_pointers();
  states[1] = nullptr;
  EXPECT_THAT(message_of([&] { controller.activate(states, handles.command_pointers()); }),
              HasSubstr("no handle for hip/position"));
  controller.activate(handles.state_pointers(), handles.command_pointers());
  EXPECT_THAT(message_of([&] {
                controller.activate(handles.state_pointers(), handles.command_pointers());
              }),
              HasSubstr("deactivate() it first"));
  configure();  // ends the previous activation
  EXPECT_EQ(controller.update(), ControllerState::kInactive);
}

TEST_F(LifecycleControllerTest, AFailedConfigureLeavesNothingBehind) {
  configure();
  controller.activate(handles.state_pointers(), handles.command_pointers());
  EXPECT_THAT(message_of([&] { configure("rate: 0"); }), HasSubstr("[LP651]"));
  EXPECT_FALSE(controller.set_command("cmd", std::array{1.0}));
  EXPECT_FALSE(controller.is_command("cmd"));
  EXPECT_EQ(controller.update(), ControllerState::kInactive);
  EXPECT_THAT(message_of([&] { controller.state_interfaces(); }), HasSubstr("[LP654]"));
  EXPECT_THAT(message_of([&] { controller.activate({}, {}); }), HasSubstr("[LP654]"));
  bench.contract.frequency = 30;  // the robot is valid, but the controller refuses it
  EXPECT_THAT(message_of([&] { configure(); }), HasSubstr("[LP653]"));
  EXPECT_FALSE(controller.set_command("cmd", std::array{1.0}));
  bench.contract.frequency = 50;
  configure();
  EXPECT_TRUE(controller.set_command("cmd", std::array{1.0}));
}

/// Runs one update, 10 ms after the last one, with the command sent again.
ControllerState update_with_command(PolicyBench& bench, LifecycleController& controller) {
  controller.set_command("cmd", std::array{7.0});
  const ControllerState state = controller.update();
  bench.now += std::chrono::milliseconds(10);
  return state;
}

TEST_F(LifecycleControllerTest, AHandleThatNeverChangesGrowsStale) {
  add_contract(bench.inputs[1].semantics, {.max_age_ms = 25});  // tilt
  bench.contract.frequency = 100;
  configure();
  controller.activate(handles.state_pointers(), handles.command_pointers());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(update_with_command(bench, controller), ControllerState::kRunning);
  }
  EXPECT_EQ(update_with_command(bench, controller), ControllerState::kFallback);
  handles.states[2] = std::nextafter(handles.states[2], 9);
  EXPECT_EQ(update_with_command(bench, controller), ControllerState::kRunning);
  // The joints also stand still, but their port has no max_age_ms.
  for (int i = 0; i < 2; ++i) update_with_command(bench, controller);
  EXPECT_EQ(update_with_command(bench, controller), ControllerState::kFallback);
  controller.deactivate();
  controller.activate(handles.state_pointers(), handles.command_pointers());
  EXPECT_EQ(update_with_command(bench, controller), ControllerState::kRunning);
}

TEST_F(LifecycleControllerTest, AHeartbeatSaysWhenASensorMeasured) {
  add_contract(bench.inputs[1].semantics, {.max_age_ms = 15});
  bench.contract.frequency = 100;
  const std::string robot = kRobot;
  const std::string pattern = "\"imu/gravity.{}\"";
  configure(std::string(robot).replace(robot.find(pattern), pattern.size(),
                                       pattern + ", heartbeat: imu/count"));
  EXPECT_THAT(controller.state_interfaces(),
              ElementsAre("knee/position", "hip/position", "imu/gravity.x", "imu/count"));
  double count = 0;
  auto states = handles.state_pointers();
  states.push_back(&count);
  controller.activate(states, handles.command_pointers());
  for (int i = 0; i < 5; ++i, ++count) {
    EXPECT_EQ(update_with_command(bench, controller), ControllerState::kRunning);
  }
  handles.states[2] = 8;  // a value that changes without the counter is not a measurement
  update_with_command(bench, controller);
  update_with_command(bench, controller);
  EXPECT_EQ(update_with_command(bench, controller), ControllerState::kFallback);
}

TEST_F(LifecycleControllerTest, AnActuatorWithoutInterfaces) {
  const std::string robot = std::string(kRobot) + "  grip: {kind: target/hand, elements: [f]}\n";
  EXPECT_THAT(message_of([&] { configure(robot); }),
              HasSubstr("actuator 'grip' needs 'interfaces'"));
}

}  // namespace
}  // namespace leapp
