// Which number of a robot is which element of a bundle's ports, found by kind and name.
//
// A port takes its elements from the signals of its kind: element "knee_l" of policy/joint_pos from
// the one sensor of kind state/joint/position that has an element "knee_l", whatever its place
// there. Where both sides declare a frame it must be the same, where both declare a unit it is
// converted, and quaternions are matched by their parts. Nothing is guessed: what is missing,
// doubled or ambiguous is a problem, and what one side leaves unsaid is a remark.
//
//   const leapp::RobotBinding binding = leapp::bind(bundle, robot);
//   leapp::require_bound(binding, bundle, robot);  // throws one error that lists both sides
//
// Plain values; set-up only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/contract.h"
#include "leapp/robot.h"
#include "leapp/visibility.h"

namespace leapp {

/// One number of a signal. From the robot to the bundle it is multiplied with `factor`, and the
/// other way divided by it.
struct BoundElement {
  std::size_t signal = 0;   ///< index into Robot::sensors, or actuators
  std::size_t element = 0;  ///< index into Signal::elements
  double factor = 1;

  bool operator==(const BoundElement&) const = default;
};

/// Memory layout of a port: element i of time step t is at `i * element_stride + t * step_stride`.
struct PortLayout {
  std::size_t elements = 0;
  std::size_t steps = 1;  ///< of the time axis; 1 without one
  std::size_t element_stride = 1;
  std::size_t step_stride = 0;
  double period_ms = 0;  ///< between two steps
};

struct PortBinding {
  std::string port;  ///< "policy/joint_pos"
  std::string kind;  ///< empty when the port has none
  PortLayout layout;
  std::vector<std::string> elements;  ///< their names, in the port's order; empty without
  std::vector<BoundElement> sources;  ///< one for each element; empty when it is not bound
  PortContract contract;
  std::vector<std::string> remarks;  ///< what is taken on trust
};

struct RobotBinding {
  std::vector<PortBinding> inputs;  ///< what the pipeline takes, in its order
  std::vector<PortBinding>
      outputs;  ///< outputs of the pipeline; those without a kind may be unbound
  std::vector<std::string> problems;
  std::vector<std::string> remarks;  ///< about the robot or the bundle as a whole
};

/// Matches the ports of a bundle with the signals of a robot. Throws only for a contract whose
/// values make no sense.
LEAPP_EXPORT RobotBinding bind(const Bundle& bundle, const Robot& robot);

/// Throws Error (LP652) with every problem and both sides, if there is a problem.
LEAPP_EXPORT void require_bound(const RobotBinding& binding, const Bundle& bundle,
                                const Robot& robot);

}  // namespace leapp
