// Runs a bundle on a robot and keeps its contract: order, units, rates, histories, limits,
// fallback.
//
//   const leapp::Robot robot = leapp::read_robot("robot.yaml");
//   leapp::Controller controller("walker/walker.yaml", robot, {.blend_in = 2s});
//   const std::size_t joints = controller.sensor("joint_pos");       // names once
//   const std::size_t target = controller.actuator("joint_target");
//   controller.start();
//   while (running) {                                                // at the robot's rate
//     controller.set_sensor(joints, encoder_values);                 // in the robot's own order
//     controller.update();
//     send(controller.actuator_values(target));                      // in the robot's own order
//   }
//
// update() runs at the rate of the loop. It samples the sensors into the histories. When the policy
// is due, by the bundle's frequency, its inputs are gathered by name, converted, checked and
// limited, and the policy runs: at once, or in a thread of its own. Between two results targets are
// held, interpolated, or played back if they are a chunk of steps. They are blended in, limited in
// range and rate, and converted to the robot's units. The rate counts from the values sent last, at
// first from the measured pose.
//
// An input that is stale or not finite, an output that is not finite, a tick that fails and a
// result that is late make every output send its `fallback` (`hold`, the last output, if none is
// declared) until a good result comes. A value beyond limits that say `on_violation: stop` does so
// until start(). A tick first decides and then sends: all targets or all fallbacks. Every
// intervention is counted, with tick, cause and port. docs/reference/controller.md defines all of
// this in numbered rules.
//
// Real time: set_sensor(), update() and actuator_values() allocate nothing of their own, take no
// lock and call no system; the engines' own allocations in a tick are theirs. Everything else is
// set-up. With Execution::kWorker the policy runs in a thread that exchanges inputs and outputs
// through one atomic; it looks for work every `worker_poll`.
//
// Threads: one at a time, as InferenceManager. Returned memory belongs to the controller.
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
  kLinear,  ///< a line to it, which it reaches when the next one is due
};

/// Thread in which the policy runs.
enum class Execution : std::uint8_t {
  kSynchronous,  ///< inside update()
  kWorker,       ///< in a thread of the controller's
};

/// Reason for an intervention of the controller.
enum class Cause : std::uint8_t {
  kClamped,       ///< a value was beyond its range
  kSlewed,        ///< a value changed faster than its rate
  kBeyondLimits,  ///< a value was beyond a limit that says stop
  kNotFinite,     ///< NaN or infinity
  kStale,         ///< an input older than its max_age_ms, or never measured
  kLate,          ///< the policy took longer than its deadline
  kTickFailed,    ///< the policy failed; Controller::failure() says how
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
  kWaiting,   ///< the measured pose, until there is a first result
  kRunning,   ///< what the policy says
  kFallback,  ///< the fallback, until there is a good result
  kStopped,   ///< the fallback, until start()
};

struct ControllerOptions {
  RuntimeOptions runtime = {};           ///< how the bundle is loaded and run
  std::optional<double> frequency = {};  ///< of the policy, instead of the bundle's
  Interpolation interpolation = Interpolation::kHold;
  Execution execution = Execution::kSynchronous;
  /// Time limit of the policy. Without one, a worker has the policy's period.
  std::optional<std::chrono::nanoseconds> deadline = {};
  std::chrono::nanoseconds worker_poll = std::chrono::microseconds(100);
  /// Time in which position targets move to the policy's targets: after start() from the measured
  /// pose, and after a fallback from its values.
  std::chrono::nanoseconds blend_in{0};
  /// Returns the time, from any origin. A step back counts as no time. Without one, the steady
  /// clock.
  std::function<std::chrono::nanoseconds()> clock = {};
  /// A file to record every signal and port to, in the format MCAP; a thread of its own writes it.
  std::filesystem::path recording = {};
};

/// Runs a bundle on a robot. A moved-from controller may only be destroyed or assigned to.
class LEAPP_EXPORT Controller {
 public:
  /// Loads the bundle and binds it to the robot. Throws Error: what InferenceManager throws, LP652
  /// when they do not fit each other, LP653 for rates and options that make no sense.
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

  /// Sets what a sensor measures now, in the order of its elements. Too few or too many values, and
  /// an index of no sensor, are left out: the sensor grows stale.
  void set_sensor(std::size_t sensor, std::span<const double> values) noexcept;
  /// Does the same, measured `age` ago. A negative age is left out as well.
  void set_sensor(std::size_t sensor, std::span<const double> values,
                  std::chrono::nanoseconds age) noexcept;
  /// Returns the memory of a sensor's values, to write them in place; call set_fresh() afterwards.
  std::span<double> sensor_values(std::size_t sensor) noexcept;
  void set_fresh(std::size_t sensor) noexcept;

  /// Runs one tick of the loop.
  ControllerState update() noexcept;

  /// Returns the values of an actuator, in the order of its elements. Elements without an output
  /// keep the caller's values.
  std::span<double> actuator_values(std::size_t actuator) noexcept;

  /// Ticks of the loop since start().
  std::uint64_t ticks() const noexcept;
  /// Returns the number of interventions since start(), by Cause.
  const std::array<std::uint64_t, kCauses>& counts() const noexcept;
  /// Returns the last interventions, oldest first; at most 256 are kept. Allocates.
  std::vector<Intervention> interventions() const;
  /// Returns the error message of the most recent failed policy tick, or an empty string.
  std::string_view failure() const noexcept;
  /// Values that the recording had no room for, because its writer was too slow.
  std::uint64_t dropped() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leapp
