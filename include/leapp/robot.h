// Description of a robot: its joints in its own order, its sensors and its actuators.
//
//   rate: 1000                                  # of the control loop, in Hz
//   joints: [FR_hip, FR_thigh, FR_calf]         # the robot's own order
//   sensors:                                    # values for the policy
//     joint_pos: {kind: state/joint/position, unit: rad}
//     gyro: {kind: state/body/angular_velocity, elements: [x, y, z], unit: deg/s, frame: base}
//     attitude: {kind: state/body/rotation, quaternion: xyzw, frame: world}
//     velocity: {kind: command/body/velocity, elements: [lin_vel_x, lin_vel_y, ang_vel_z]}
//   actuators:                                  # values for the robot
//     joint_target: {kind: target/joint/position, unit: rad}
//   capabilities: [set_gains]                   # what else the program on the robot can do
//
// A signal is a row of doubles. `elements` names them; a signal of a kind `../joint/..`, `kp` or
// `kd` has the joints as its elements by default, and one with `quaternion` has qw, qx, qy, qz in
// that order. `ports` of a signal lists ports "node/port" that must use it if kind and names are
// ambiguous, or if the port has no names; elements are then matched by position. `interfaces` gives
// the names of the hardware interfaces, with {} for an element's name; `heartbeat` of a sensor
// names a hardware interface that changes with each measurement.
//
// The structs are plain values that own their members. Reading allocates and throws Error (LP651),
// with a message that begins "file:line:column:". Unknown keys are errors; otherwise a mistyped key
// would silently remove a connection.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/contract.h"
#include "leapp/visibility.h"

namespace leapp {

/// A named row of numbers: measurements of the robot, commands to the policy, or values for the
/// robot.
struct Signal {
  std::string name;
  std::string kind;                   ///< the same as for ports: "state/joint/position"
  std::vector<std::string> elements;  ///< one name for each number
  std::optional<std::string> unit = {};
  std::optional<std::string> frame = {};
  std::optional<QuaternionOrder> quaternion = {};  ///< order of the last four elements
  std::vector<std::string> ports = {};
  std::string interfaces = {};  ///< "{}/position", "imu/orientation.{}"
  std::string heartbeat =
      {};  ///< sensors: "imu/count", an interface that changes with each measurement

  bool operator==(const Signal&) const = default;
};

struct Robot {
  double rate = 0;  ///< of the control loop, in Hz
  std::vector<std::string> joints = {};
  std::vector<Signal> sensors = {};
  std::vector<Signal> actuators = {};
  std::vector<std::string> capabilities = {};

  bool operator==(const Robot&) const = default;
};

/// Reads and checks a robot's description. Throws Error: LP651, or kNotFound.
LEAPP_EXPORT Robot read_robot(const std::filesystem::path& yaml);

/// Reads a robot's description from text in memory. `name` stands for the file in messages.
LEAPP_EXPORT Robot parse_robot(std::string_view yaml, const std::string& name);

/// Throws Error (LP651) for an invalid robot: a rate that is not positive, a duplicate name, a
/// signal without elements.
LEAPP_EXPORT void check(const Robot& robot);

}  // namespace leapp
