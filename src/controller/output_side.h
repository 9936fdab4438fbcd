// From the policy's outputs to the robot's actuators: played back, bounded, blended in, converted.
#pragma once

#include <string>
#include <vector>

#include "controller/intervention_log.h"
#include "controller/limiter.h"
#include "controller/signals.h"
#include "leapp/controller.h"

namespace leapp {

/// Allocates when it is made; everything but start() is for real time. Values are in the units of
/// the ports until they are written to the actuators.
class OutputSide {
 public:
  /// All must outlive it, and the signals keep their places. Throws Error (LP652) where `damp` or
  /// blending in needs a measured position that there is not.
  OutputSide(InferenceManager& manager, const RobotBinding& binding, const Robot& robot,
             const std::vector<SignalValues>& sensors, std::vector<SignalValues>& actuators,
             std::size_t decimation, const ControllerOptions& options);

  /// Forgets all targets.
  void start() noexcept;

  /// Takes the result of a tick of the policy that was requested in that tick of the loop. False,
  /// with the port in the log and nothing taken, when a value is not finite.
  bool accept(std::uint64_t requested, std::uint64_t tick, InterventionLog& log) noexcept;
  bool has_targets() const noexcept { return has_targets_; }

  /// Begins to blend in, from what was put out last, or else from what the joints measure now.
  void begin_blend(std::uint64_t tick) noexcept;

  /// Writes what the targets say in this tick. False when a limit says stop.
  bool play(std::uint64_t tick, InterventionLog& log) noexcept;
  /// Writes the measured pose, before there are targets.
  void wait() noexcept;
  /// Writes the fallback.
  void fall_back() noexcept;

  /// Where an output lies after a tick, for recording it.
  const TensorView& view(std::size_t output) const noexcept;

 private:
  enum class Role { kOther, kPosition, kZeroWhenDamped };
  struct Target {
    double* value;                         // of the actuator
    double factor;                         // from the actuator's unit to the port's
    const SignalValues* sensor = nullptr;  // that measures the joint's position
    std::size_t element = 0;               // where it does
    double sensor_factor = 1;
  };
  struct Output {
    std::string name;
    OutputPort port;
    PortLayout layout;
    std::size_t step_ticks = 1;
    Role role = Role::kOther;
    Fallback fallback = Hold{};
    std::vector<Target> targets;
    Limiter limiter;
    std::vector<double> incoming;  // every step of the newest result
    std::vector<double> chunk;     // every step of what is played
    std::vector<double> before;    // what was played when the chunk came
    std::vector<double> blend;     // where blending in began
    std::vector<double> values;    // what was put out last
    bool written = false;          // whether there is such a thing
  };

  Output make_output(const PortBinding& port, const Robot& robot,
                     const std::vector<SignalValues>& sensors,
                     std::vector<SignalValues>& actuators) const;
  void find_measured(Output& output, const PortBinding& port, const Robot& robot,
                     const std::vector<SignalValues>& sensors) const;
  /// What the targets say in this tick, before limits, into `values`.
  void desired(Output& output, std::uint64_t tick) noexcept;
  /// False, with some values as they were, where a joint's position is not known.
  static bool read_measured(const Output& output, std::vector<double>& values) noexcept;
  static void write(Output& output) noexcept;

  InferenceManager& manager_;
  const ControllerOptions& options_;
  double rate_;
  std::size_t decimation_;
  std::size_t blend_ticks_;
  std::vector<Output> outputs_;    // those that are bound
  std::vector<OutputPort> ports_;  // all of them, in the order of the binding
  bool has_targets_ = false;
  std::uint64_t requested_ = 0;   // the tick in which what is played was asked for
  std::uint64_t blend_from_ = 0;  // the tick in which blending in began
  bool blending_ = false;
};

}  // namespace leapp
