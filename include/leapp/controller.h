// Runs a bundle on a robot and enforces its contract: order, units, rates, histories, limits,
// fallback.
//
//   const leapp::Robot robot = leapp::read_robot("robot.yaml");
//   leapp::Controller controller("walker/walker.yaml", robot, {.blend_in = 2s});
//   const std::size_t joints = controller.sensor("joint_pos");       // look up names once
//   const std::size_t target = controller.actuator("joint_target");
//   controller.start();
//   while (running) {                                                // at the robot's rate
//     controller.set_sensor(joints, encoder_values).value();         // in the robot's own order
//     controller.update();
//     send(controller.actuator_values(target));                      // in the robot's own order
//   }
//
// update() runs at the rate of the loop. It samples the sensors into the histories. When the policy
// is due, by the bundle's frequency, its inputs are gathered by name, converted, checked and
// limited, and the policy runs, either immediately or in a separate thread. Between two results,
// targets are held, interpolated, or, for a chunk of steps, played back. They are blended in,
// limited in range and rate, and converted to the robot's units. The rate limit starts from the
// values sent last, and initially from the measured pose.
//
// If an input is stale or not finite, an output is not finite, a tick fails or a result is late,
// every output sends its `fallback` until a good result arrives. The default fallback is `hold`,
// the last output. After a value beyond limits with `on_violation: stop`, every output sends its
// fallback until start(). A tick first decides and then sends: all targets or all fallbacks. Every
// intervention is counted, with tick, cause and port. docs/reference/controller.md defines all of
// this in numbered rules.
//
// Real time: set_sensor(), update() and actuator_values() do not allocate, take a lock or make a
// system call; only the engines may do so in a tick. Everything else is for set-up. With
// Execution::kWorker the policy runs in a thread that exchanges inputs and outputs through one
// atomic and polls it every `worker_poll`.
//
// Threads: one at a time, as for InferenceManager. The controller owns the memory that it returns.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/inference_manager.h"
#include "leapp/result.h"
#include "leapp/robot.h"
#include "leapp/robot_binding.h"
#include "leapp/visibility.h"

namespace leapp {

/// Targets between two results of the policy.
enum class Interpolation : std::uint8_t {
  kHold,    ///< the newest target
  kLinear,  ///< linear interpolation, which reaches a target when the next one is due
};

/// Thread in which the policy runs.
enum class Execution : std::uint8_t {
  kSynchronous,  ///< inside update()
  kWorker,       ///< in a separate thread
};

/// Reason for an intervention of the controller.
enum class Cause : std::uint8_t {
  kClamped,       ///< a value outside its range
  kSlewed,        ///< a value that changed faster than its rate
  kBeyondLimits,  ///< a value beyond a limit with on_violation: stop
  kNotFinite,     ///< NaN or infinity
  kStale,         ///< an input older than its max_age_ms, or never measured
  kLate,          ///< the policy took longer than its deadline
  kTickFailed,    ///< the policy failed; see Controller::failure()
};
inline constexpr std::size_t kCauses = 7;

/// Returns "clamped", "slewed", "beyond_limits", ..
LEAPP_EXPORT std::string_view name_of(Cause cause) noexcept;

struct Intervention {
  std::uint64_t tick = 0;  ///< of the loop, since start()
  Cause cause = Cause::kClamped;
  std::string_view port;  ///< "policy/action", or empty; valid as long as the controller
};

/// State of the outputs after update().
enum class ControllerState : std::uint8_t {
  kInactive,  ///< nothing: start() was not called
  kWaiting,   ///< the measured pose, before the first result
  kRunning,   ///< the targets of the policy
  kFallback,  ///< the fallback, until there is a good result
  kStopped,   ///< the fallback, until start()
};

struct ControllerOptions {
  RuntimeOptions runtime = {};           ///< options for loading and running the bundle
  std::optional<double> frequency = {};  ///< rate of the policy; replaces the bundle's
  Interpolation interpolation = Interpolation::kHold;
  Execution execution = Execution::kSynchronous;
  /// Time limit of the policy. Without one, a worker has one period of the policy.
  std::optional<std::chrono::nanoseconds> deadline = {};
  std::chrono::nanoseconds worker_poll = std::chrono::microseconds(100);
  /// Time in which position targets move to the policy's targets: after start() from the measured
  /// pose, and after a fallback from its values.
  std::chrono::nanoseconds blend_in{0};
  /// Returns the time, from any origin, and must not throw. A step back counts as no time. Without
  /// one, the steady clock.
  std::function<std::chrono::nanoseconds()> clock = {};
  /// The MCAP file that records every signal and port. A separate thread writes it.
  std::filesystem::path recording = {};
};

/// Runs a bundle on a robot. A moved-from controller may only be destroyed or assigned to.
class LEAPP_EXPORT Controller {
 public:
  /// Loads the bundle and binds it to the robot. Throws the errors of InferenceManager, LP652 if
  /// bundle and robot do not match, and LP653 for invalid rates and options.
  Controller(const std::filesystem::path& bundle, const Robot& robot,
             ControllerOptions options = {});
  ~Controller();
  Controller(Controller&&) noexcept;
  Controller& operator=(Controller&&) noexcept;

  const Robot& robot() const noexcept;
  const Bundle& bundle() const noexcept;
  const RobotBinding& binding() const noexcept;
  /// Returns the number of loop ticks per tick of the policy.
  std::size_t decimation() const noexcept;

  /// Returns the index of a signal. Throws Error (LP652) with the existing names.
  std::size_t sensor(std::string_view name) const;
  std::size_t actuator(std::string_view name) const;

  /// Resets policy, histories, fallbacks and counts, and starts. Not for real time.
  void start();
  /// Stops: update() sends nothing until start(). Waits for the worker.
  void stop();

  /// Sets the values that a sensor measured `age` ago, in the order of its elements. Fails, and
  /// changes nothing, for an invalid index (LP652), and for a wrong number of values or a negative
  /// age (LP603).
  Result<void> set_sensor(std::size_t sensor, std::span<const double> values) noexcept;
  Result<void> set_sensor(std::size_t sensor, std::span<const double> values,
                          std::chrono::nanoseconds age) noexcept;
  /// Returns the memory of a sensor's values, to write them in place; call set_fresh() afterwards.
  /// Empty for an invalid index, for which set_fresh() fails (LP652).
  std::span<double> sensor_values(std::size_t sensor) noexcept;
  Result<void> set_fresh(std::size_t sensor) noexcept;

  /// Runs one tick of the loop.
  ControllerState update() noexcept;

  /// Returns the values of an actuator, in the order of its elements; empty for an invalid index.
  /// Elements without an output keep the caller's values.
  std::span<double> actuator_values(std::size_t actuator) noexcept;

  /// Ticks of the loop since start().
  std::uint64_t ticks() const noexcept;
  /// Returns the number of interventions since start(), by Cause.
  const std::array<std::uint64_t, kCauses>& counts() const noexcept;
  /// Returns the last interventions, oldest first; at most 256 are kept. Allocates.
  std::vector<Intervention> interventions() const;
  /// Returns the error message of the most recent failed policy tick, or an empty string.
  std::string_view failure() const noexcept;
  /// Returns the number of values that the recording lost because its writer was too slow.
  std::uint64_t dropped() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leapp
