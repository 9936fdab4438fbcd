// Runs several bundles on one robot, one at a time: stand, walk, get up.
//
//   const leapp::Robot robot = leapp::read_robot("robot.yaml");
//   leapp::Supervisor supervisor(leapp::read_supervision("supervisor.yaml"), robot);
//   const std::size_t joints = supervisor.sensor("joint_pos");        // names once
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
// The active policy is run as Controller runs its bundle; the others rest. A switch comes on
// request() or on a condition of the description (supervision.h). It is refused while an input of
// the other policy is stale, NaN or infinite. The other policy begins with its initial state; its
// targets continue from the values sent last, with its `blend_in` and within its limits and rates.
//
// An emergency stop is latched: every output sends its fallback until the operator clears it, and
// no policy moves until the next request(). The description can declare one fallback for all
// policies. Every switch, refusal and stop is counted, and recorded if there is a recording.
// docs/reference/supervisor.md defines all of this in numbered rules.
//
// Real time: update(), the calls of sensors and actuators, and request(), set_flag(),
// emergency_stop() and clear_emergency_stop() allocate nothing of their own, take no lock and call
// no system. Everything else is set-up.
//
// Threads: request(), set_flag(), emergency_stop() and clear_emergency_stop() may be called from
// any thread while update() runs; they take effect in the next update(). All other calls: one at a
// time. Memory behind a span belongs to the supervisor.
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
  kRefused,        ///< a policy should have, and could not
  kEmergencyStop,  ///< an emergency stop began
  kCleared,        ///< the operator cleared it
};
inline constexpr std::size_t kSwitchEvents = 4;

/// "switched", "refused", "emergency_stop", "cleared".
LEAPP_EXPORT std::string_view name_of(SwitchEvent event) noexcept;

struct SwitchRecord {
  std::uint64_t tick = 0;  ///< of the loop, since start()
  SwitchEvent event = SwitchEvent::kSwitched;
  std::size_t policy = 0;                ///< that was switched to or refused; else the active one
  std::optional<std::size_t> rule = {};  ///< index into Supervision::switches; none: a call
};

/// Several bundles on one robot. After a move, the source may only be destroyed or assigned to.
class LEAPP_EXPORT Supervisor {
 public:
  /// Loads the bundles and binds each to the robot. The options are those of every policy, unless
  /// its description says otherwise; `blend_in` must be zero, as the description has it. Throws
  /// Error: what Controller throws, and LP656 for a description that does not fit bundles and
  /// robot.
  Supervisor(const Supervision& supervision, const Robot& robot, ControllerOptions options = {});
  ~Supervisor();
  Supervisor(Supervisor&&) noexcept;
  Supervisor& operator=(Supervisor&&) noexcept;

  const Supervision& supervision() const noexcept;
  const Robot& robot() const noexcept;
  /// Throws Error (LP656) for an index of no policy.
  const Bundle& bundle(std::size_t policy) const;
  const RobotBinding& binding(std::size_t policy) const;

  /// Returns the index of a policy, or of a flag that a condition names. Throws Error (LP656) with
  /// the names there are.
  std::size_t policy(std::string_view name) const;
  std::size_t flag(std::string_view name) const;
  /// Returns the index of a signal. Throws Error (LP652) with the names there are.
  std::size_t sensor(std::string_view name) const;
  std::size_t actuator(std::string_view name) const;

  /// Makes the first policy active and lets everything begin again, except flags and an emergency
  /// stop: that stays until it is cleared. Waits for workers. Not for real time.
  void start();
  /// Ends it: update() sends nothing until start(). Waits for workers.
  void stop();

  /// Asks for a policy. The last request before an update() counts. Fails (LP656) for an index of
  /// no policy. Whether it is carried out, switches() says.
  Result<void> request(std::size_t policy) noexcept;
  /// Sets a flag for conditions. It stays until it is set again. Fails (LP656) for an index of no
  /// flag.
  Result<void> set_flag(std::size_t flag, bool value) noexcept;
  /// Stops in the next update(), and stays stopped.
  void emergency_stop() noexcept;
  /// Ends an emergency stop. If there is one more before the next update(), that one wins. The
  /// robot stays stopped until request().
  void clear_emergency_stop() noexcept;

  /// Sets what a sensor measured, as in Controller.
  Result<void> set_sensor(std::size_t sensor, std::span<const double> values) noexcept;
  Result<void> set_sensor(std::size_t sensor, std::span<const double> values,
                          std::chrono::nanoseconds age) noexcept;
  std::span<double> sensor_values(std::size_t sensor) noexcept;
  Result<void> set_fresh(std::size_t sensor) noexcept;

  /// Runs one tick of the loop. Returns the state of the active policy, kStopped in an emergency
  /// stop.
  ControllerState update() noexcept;

  /// Returns the memory of an actuator, as in Controller.
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
  /// an index of no policy.
  const std::array<std::uint64_t, kCauses>& counts(std::size_t policy) const;
  std::vector<Intervention> interventions(std::size_t policy) const;
  std::string_view failure(std::size_t policy) const;
  /// Returns the number of values that the recording had no room for, because its writer was too
  /// slow.
  std::uint64_t dropped() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leapp
