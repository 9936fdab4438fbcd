// Runs several bundles on one robot, one at a time: stand, walk, get up.
//
//   const leapp::Robot robot = leapp::read_robot("robot.yaml");
//   leapp::Supervisor supervisor(leapp::read_supervision("supervisor.yaml"), robot);
//   const std::size_t joints = supervisor.sensor("joint_pos");        // look up names once
//   const std::size_t target = supervisor.actuator("joint_target");
//   const std::size_t walk = supervisor.policy("walk");
//   supervisor.start();                                               // with the first policy
//   while (running) {                                                 // at the robot's rate
//     if (joystick_pressed) supervisor.request(walk).value();
//     supervisor.set_sensor(joints, encoder_values).value();          // in the robot's own order
//     supervisor.update();
//     send(supervisor.actuator_values(target));
//   }
//
// The active policy runs as in Controller; the others do nothing. request() or a condition of the
// description (supervision.h) starts a switch. It is refused while an input of the other policy is
// stale, NaN or infinite. The other policy begins with its initial state; its targets continue from
// the values sent last, with its `blend_in` and within its limits and rates.
//
// An emergency stop is latched: every output sends its fallback until the operator clears it, and
// no policy moves until the next request(). The description can declare one fallback for all
// policies. Every switch, refusal and stop is counted, and recorded if there is a recording.
// docs/reference/supervisor.md defines all of this in numbered rules.
//
// Real time: update(), the calls of sensors and actuators, and request(), set_flag(),
// emergency_stop() and clear_emergency_stop() do not allocate, take a lock or make a system call.
// Everything else is for set-up.
//
// Threads: request(), set_flag(), emergency_stop() and clear_emergency_stop() may be called from
// any thread while update() runs; they take effect in the next update(). All other calls: one at a
// time. The supervisor owns the memory of the spans that it returns.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/controller.h"
#include "leapp/result.h"
#include "leapp/robot.h"
#include "leapp/robot_binding.h"
#include "leapp/supervision.h"
#include "leapp/visibility.h"

namespace leapp {

/// A decision of a supervisor.
enum class SwitchEvent : std::uint8_t {
  kSwitched,       ///< a policy became the active one
  kRefused,        ///< a requested policy could not start
  kEmergencyStop,  ///< an emergency stop began
  kCleared,        ///< the operator cleared it
};
inline constexpr std::size_t kSwitchEvents = 4;

/// "switched", "refused", "emergency_stop", "cleared".
LEAPP_EXPORT std::string_view name_of(SwitchEvent event) noexcept;

struct SwitchRecord {
  std::uint64_t tick = 0;  ///< of the loop, since start()
  SwitchEvent event = SwitchEvent::kSwitched;
  std::size_t policy = 0;  ///< the policy that was switched to or refused; otherwise the active one
  std::optional<std::size_t> rule = {};  ///< index into Supervision::switches; none for a call
};

/// Several bundles on one robot. After a move, the source may only be destroyed or assigned to.
class LEAPP_EXPORT Supervisor {
 public:
  /// Loads the bundles and binds each to the robot. The options apply to every policy unless its
  /// description overrides them; `blend_in` must be zero, because the description sets it. Throws
  /// the errors of Controller, and LP656 if the description does not match bundles and robot.
  Supervisor(const Supervision& supervision, const Robot& robot, ControllerOptions options = {});
  ~Supervisor();
  Supervisor(Supervisor&&) noexcept;
  Supervisor& operator=(Supervisor&&) noexcept;

  const Supervision& supervision() const noexcept;
  const Robot& robot() const noexcept;
  /// Returns the name of a policy. Throws Error (LP656) for an invalid index.
  const Bundle& bundle(std::size_t policy) const;
  const RobotBinding& binding(std::size_t policy) const;

  /// Returns the index of a policy, or of a flag that a condition names. Throws Error (LP656) with
  /// the existing names.
  std::size_t policy(std::string_view name) const;
  std::size_t flag(std::string_view name) const;
  /// Returns the index of a signal. Throws Error (LP652) with the existing names.
  std::size_t sensor(std::string_view name) const;
  std::size_t actuator(std::string_view name) const;

  /// Makes the first policy active and resets everything else, except flags and an emergency stop,
  /// which stays until it is cleared. Waits for workers. Not for real time.
  void start();
  /// Stops: update() sends nothing until start(). Waits for workers.
  void stop();

  /// Requests a policy. The last request before an update() counts. Fails (LP656) for an invalid
  /// index. switches() shows if it was carried out or refused.
  Result<void> request(std::size_t policy) noexcept;
  /// Sets a flag for conditions. It keeps its value until it is set again. Fails (LP656) for an
  /// invalid index.
  Result<void> set_flag(std::size_t flag, bool value) noexcept;
  /// Stops in the next update(), and stays stopped.
  void emergency_stop() noexcept;
  /// Ends an emergency stop. Another stop before the next update() takes precedence. The robot
  /// stays stopped until request().
  void clear_emergency_stop() noexcept;

  /// Sets the values of a sensor, as in Controller.
  Result<void> set_sensor(std::size_t sensor, std::span<const double> values) noexcept;
  Result<void> set_sensor(std::size_t sensor, std::span<const double> values,
                          std::chrono::nanoseconds age) noexcept;
  std::span<double> sensor_values(std::size_t sensor) noexcept;
  Result<void> set_fresh(std::size_t sensor) noexcept;

  /// Runs one tick of the loop. Returns the state of the active policy, kStopped in an emergency
  /// stop.
  ControllerState update() noexcept;

  /// Returns the values of an actuator, as in Controller.
  std::span<double> actuator_values(std::size_t actuator) noexcept;

  /// Returns the policy that was active in the last update().
  std::size_t active() const noexcept;
  /// Returns whether the last update() was in an emergency stop.
  bool is_emergency_stopped() const noexcept;

  /// Returns the number of ticks of the loop since start().
  std::uint64_t ticks() const noexcept;
  /// Returns the number of decisions since start(), by SwitchEvent.
  const std::array<std::uint64_t, kSwitchEvents>& switch_counts() const noexcept;
  /// Returns the last decisions, oldest first; at most 256 are kept. Allocates.
  std::vector<SwitchRecord> switches() const;
  /// Returns interventions and failures of one policy, as in Controller. Throws Error (LP656) for
  /// an invalid index.
  const std::array<std::uint64_t, kCauses>& counts(std::size_t policy) const;
  std::vector<Intervention> interventions(std::size_t policy) const;
  std::string_view failure(std::size_t policy) const;
  /// Returns the number of values that the recording lost because its writer was too slow.
  std::uint64_t dropped() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leapp
