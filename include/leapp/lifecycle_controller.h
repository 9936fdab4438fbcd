// A controller with the life cycle of ros2_control, over named handles, without ROS.
//
//   leapp::LifecycleController controller;
//   controller.configure("walker/walker.yaml", "robot.yaml");
//   for (const std::string& name : controller.state_interfaces()) ..     // "hip_l/position"
//   controller.activate(state_handles, command_handles);                // pointers in that order
//   while (running) controller.update();                                // at the robot's rate
//   controller.deactivate();
//
// The key `interfaces` in the robot's description gives the interface names of a signal's elements,
// such as "imu/orientation.{}". A joint signal without this key has "{}/position", "{}/velocity" or
// "{}/effort", by its kind. Commands to the policy (`command/..`) come from a hardware interface
// only if they have `interfaces`; otherwise pass messages of other programs to set_command().
//
// A handle has a value but no time. A sensor counts as measured in an update() if the bits of one
// of its values changed since the last update(), and in the first update() after activate(). If the
// values can stay constant while the sensor works, give it a `heartbeat`: a state interface that
// changes with each measurement, such as a counter. `max_age_ms` of the ports then works as in
// Controller.
//
// Threads: one at a time, except that another thread may call set_command() while update() runs:
// values are passed through a lock-free triple buffer. configure() must not run concurrently with
// any other call. update() is for real time; the others are not.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/controller.h"
#include "leapp/visibility.h"

namespace leapp {

class LEAPP_EXPORT LifecycleController {
 public:
  LifecycleController();
  ~LifecycleController();
  LifecycleController(const LifecycleController&) = delete;
  LifecycleController& operator=(const LifecycleController&) = delete;

  /// Loads bundle and robot. Drops the previous configuration first, so the controller is
  /// unconfigured after an error. Throws the errors of Controller, and LP651 for a signal whose
  /// interfaces are unknown.
  void configure(const std::filesystem::path& bundle, const std::filesystem::path& robot,
                 ControllerOptions options = {});

  /// Returns the names of the state and command interfaces, in the order of the handles. Throws
  /// Error (LP654) before configure().
  const std::vector<std::string>& state_interfaces() const;
  const std::vector<std::string>& command_interfaces() const;

  /// Activates the controller with these handles, which must live until deactivate(). Throws Error
  /// (LP654) before configure(), if already active, and if a handle is missing or null.
  void activate(std::span<const double* const> states, std::span<double* const> commands);

  /// Reads the states, runs a tick and writes the commands. Writes nothing unless active.
  ControllerState update() noexcept;

  /// Deactivates the controller; handles are no longer used. Does nothing unless active.
  void deactivate();

  /// Returns whether a sensor has no interfaces and gets its values from set_command().
  bool is_command(std::string_view sensor) const noexcept;

  /// Sets a sensor that has no interfaces, such as a command or the measurement of another program.
  /// Returns false if there is no such sensor, or if the number of elements is wrong.
  bool set_command(std::string_view sensor, std::span<const double> values) noexcept;

  /// Returns the controller. Throws Error (LP654) before configure().
  Controller& controller() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leapp
