// Everything about a bundle on a robot that does not change at run time: for each element of an
// input, its sensor value, factor and limits, and the same for outputs.
//
// make_tick_plan() does all look-ups by name once, and throws for invalid contracts and options.
// The tick (step.h) only uses indices. Plain values that own their members.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/limiter.h"
#include "leapp/bundle.h"
#include "leapp/controller.h"
#include "leapp/dtype.h"
#include "leapp/robot.h"
#include "leapp/robot_binding.h"

namespace leapp {

/// One value of a sensor, and its factor.
struct SensorElement {
  std::size_t sensor = 0;
  std::size_t element = 0;
  double factor = 1;
};

struct InputPlan {
  std::string name;  ///< "policy/joint_pos"
  DType dtype = DType::kFloat32;
  PortLayout layout;
  std::vector<SensorElement> sources;  ///< one for each element
  std::vector<std::size_t> sensors;    ///< sensors in `sources`, once each
  std::optional<std::chrono::nanoseconds> max_age;
  Bounds bounds;
  std::size_t every = 0;   ///< ticks between two samples of the time axis; 0 without one
  std::size_t stride = 1;  ///< samples between two steps of the time axis
  History history;
};

/// One value of an actuator that an output drives.
struct TargetPlan {
  std::size_t actuator = 0;
  std::size_t element = 0;
  double factor = 1;                      ///< from the actuator's unit to the port's
  std::optional<SensorElement> measured;  ///< the sensor that measures the joint's position
};

struct OutputPlan {
  /// Treatment of an output by `damp`.
  enum class Role : std::uint8_t { kOther, kPosition, kZeroWhenDamped };

  std::string name;      ///< "policy/action"
  std::size_t port = 0;  ///< index into RobotBinding::outputs
  DType dtype = DType::kFloat32;
  PortLayout layout;
  std::size_t step_ticks = 1;  ///< ticks per step of a chunk
  Role role = Role::kOther;
  Fallback fallback = Hold{};
  std::optional<Fallback> when_stopped = {};  ///< replaces it; a supervisor's common fallback
  std::vector<TargetPlan> targets;            ///< one for each element
  Bounds bounds;
};

struct TickPlan {
  std::size_t decimation = 1;   ///< ticks of the loop per tick of the policy
  std::size_t blend_ticks = 0;  ///< duration of blending in, in ticks
  bool linear = false;
  bool worker = false;
  std::chrono::nanoseconds period{0};  ///< period of the policy
  std::optional<std::chrono::nanoseconds>
      deadline;                        ///< as given; without one, a worker has the period
  std::vector<std::size_t> sensors;    ///< number of elements of each sensor
  std::vector<std::size_t> actuators;  ///< the same of each actuator
  std::vector<InputPlan> inputs;       ///< in the order of RobotBinding::inputs
  std::vector<OutputPlan> outputs;     ///< those that drive an actuator
};

/// Throws Error (LP652) unless `damp` is defined for that output and can be computed.
void require_damp(const OutputPlan& output, const std::string& kind);

/// Plans a bundle on a robot, with a `binding` that has no problems. Throws Error: LP652 if `damp`
/// or blending in needs a measured position that the robot does not have, or a contract has numbers
/// for time steps, LP653 for rates and periods that are not multiples of each other.
TickPlan make_tick_plan(const Bundle& bundle, const Robot& robot, const RobotBinding& binding,
                        const ControllerOptions& options);

}  // namespace leapp
