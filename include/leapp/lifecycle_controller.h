// A controller with the life cycle of ros2_control's, over handles by name, without ROS.
//
//   leapp::LifecycleController controller;
//   controller.configure("walker/walker.yaml", "robot.yaml");
//   for (const std::string& name : controller.state_interfaces()) ..     // "hip_l/position"
//   controller.activate(state_handles, command_handles);                // pointers in that order
//   while (running) controller.update();                                // at the robot's rate
//   controller.deactivate();
//
// The interface names of a signal's elements: `interfaces` in the robot's description,
// such as "imu/orientation.{}"; a signal of joints that says nothing has "{}/position",
// "{}/velocity" or "{}/effort" by its kind. Commands to the policy (`command/..`) come from no
// hardware interface unless they say `interfaces`: another program's messages go to set_command().
//
// A handle has a value but no time. A sensor counts as measured in an update() if the bits of one
// of its values changed since the last update(), and in the first update() after activate(). If the
// values can stand still while the sensor works, give it a `heartbeat`: a state interface that
// changes with each measurement, such as a counter. `max_age_ms` of the ports then works as in
// Controller.
//
// Threads: one at a time, except that another thread may call set_command() while update() runs:
// values cross by a lock-free buffer of three. configure() must not run concurrently with any other
// call. update() is for real time; the others are not.
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

  /// Loads bundle and robot. Drops the previous configuration first, also if it then fails: the
  /// controller is unconfigured after an error. Throws what Controller throws, and LP651 for a
  /// signal whose interfaces are not known.
  void configure(const std::filesystem::path& bundle, const std::filesystem::path& robot,
                 ControllerOptions options = {});

  /// Names of what is read and written, in the order of the handles. Throws Error (LP654) before
  /// configure().
  const std::vector<std::string>& state_interfaces() const;
  const std::vector<std::string>& command_interfaces() const;

  /// Begins to run with these handles, which must live until deactivate(). Throws Error (LP654)
  /// before configure(), when active, and when a handle is missing or null.
  void activate(std::span<const double* const> states, std::span<double* const> commands);

  /// Reads the states, runs, writes the commands. Writes nothing unless active.
  ControllerState update() noexcept;

  /// Stops; handles are not used any more. Does nothing unless active.
  void deactivate();

  /// Returns whether a sensor has no interfaces, so that set_command() is where its values come
  /// from.
  bool is_command(std::string_view sensor) const noexcept;

  /// Sets a sensor that has no interfaces: a command, or what another program measures. False when
  /// there is no such sensor, or it has another number of elements.
  bool set_command(std::string_view sensor, std::span<const double> values) noexcept;

  /// Returns the controller. Throws Error (LP654) before configure().
  Controller& controller() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leapp
