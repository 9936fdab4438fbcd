// Everything about a bundle on a robot that does not change while it runs: which number of a sensor
// goes to which element of an input, by which factor, within which limits, and the same for
// outputs.
//
// make_tick_plan() does all the look-ups by name once and throws for contracts and options that
// make no sense. The tick (step.h) only follows indices. Plain values that own what they hold.
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

/// One number of a sensor, and what to multiply it with.
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
  std::vector<std::size_t> sensors;    ///< those that `sources` refer to, once each
  std::optional<std::chrono::nanoseconds> max_age;
  Bounds bounds;
  std::size_t every = 0;   ///< ticks between two samples of the time axis; 0 without one
  std::size_t stride = 1;  ///< samples between two steps of the time axis
  History history;
};

/// One number of an actuator that an output drives.
struct TargetPlan {
  std::size_t actuator = 0;
  std::size_t element = 0;
  double factor = 1;                      ///< from the actuator's unit to the port's
  std::optional<SensorElement> measured;  ///< measures the position of the joint
};

struct OutputPlan {
  /// How `damp` treats an output.
  enum class Role : std::uint8_t { kOther, kPosition, kZeroWhenDamped };

  std::string name;      ///< "policy/action"
  std::size_t port = 0;  ///< index into RobotBinding::outputs
  DType dtype = DType::kFloat32;
  PortLayout layout;
  std::size_t step_ticks = 1;  ///< ticks for each step of a chunk
  Role role = Role::kOther;
  Fallback fallback = Hold{};
  std::optional<Fallback> when_stopped = {};  ///< instead of it; a supervisor's common fallback
  std::vector<TargetPlan> targets;            ///< one for each element
  Bounds bounds;
};

struct TickPlan {
  std::size_t decimation = 1;   ///< ticks of the loop for one of the policy
  std::size_t blend_ticks = 0;  ///< ticks that blending in takes
  bool linear = false;
  bool worker = false;
  std::chrono::nanoseconds period{0};                ///< of the policy
  std::optional<std::chrono::nanoseconds> deadline;  ///< as given; a worker has the period without
  std::vector<std::size_t> sensors;                  ///< number of elements of each sensor
  std::vector<std::size_t> actuators;                ///< the same of each actuator
  std::vector<InputPlan> inputs;                     ///< in the order of RobotBinding::inputs
  std::vector<OutputPlan> outputs;                   ///< those that drive an actuator
};

/// Throws Error (LP652) unless `damp` means something for that output, and can be computed.
void require_damp(const OutputPlan& output, const std::string& kind);

/// Plans a bundle on a robot, which `binding` joins without problems. Throws Error: LP652 if `damp`
/// or blending in needs a measured position that the robot does not have, or a contract has numbers
/// for time steps, LP653 for rates and
/// periods that do not divide each other.
TickPlan make_tick_plan(const Bundle& bundle, const Robot& robot, const RobotBinding& binding,
                        const ControllerOptions& options);

}  // namespace leapp
