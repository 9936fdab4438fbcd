// The assignment of a robot's values to the elements of a bundle's ports, by kind and name.
//
// A port takes its elements from the signals of its kind: element "knee_l" of policy/joint_pos from
// the one sensor of kind state/joint/position that has an element "knee_l", at any index. If both
// sides declare a frame, it must be the same; if both declare a unit, it is converted; quaternions
// are matched by component. LEAPP does not guess: missing, duplicate or ambiguous elements are
// problems, and a property that only one side declares is a remark.
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

/// One number of a signal. From the robot to the bundle it is multiplied by `factor`, and in the
/// other direction divided by it.
struct BoundElement {
  std::size_t signal = 0;   ///< index into Robot::sensors or Robot::actuators
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
  std::string kind;  ///< empty if the port has none
  PortLayout layout;
  std::vector<std::string> elements;  ///< names of the elements, in the port's order; may be empty
  std::vector<BoundElement> sources;  ///< one for each element; empty if the port is not bound
  PortContract contract;
  std::vector<std::string> remarks;  ///< assumptions that could not be checked
};

struct RobotBinding {
  std::vector<PortBinding> inputs;  ///< inputs of the pipeline, in its order
  std::vector<PortBinding>
      outputs;  ///< outputs of the pipeline; those without a kind may be unbound
  std::vector<std::string> problems;
  std::vector<std::string> remarks;  ///< problems of the robot or the bundle as a whole
};

/// Matches the ports of a bundle with the signals of a robot. Throws only for a contract with
/// invalid values.
LEAPP_EXPORT RobotBinding bind(const Bundle& bundle, const Robot& robot);

/// Throws Error (LP652) with every problem, and the ports and signals of both sides, if there is a
/// problem.
LEAPP_EXPORT void require_bound(const RobotBinding& binding, const Bundle& bundle,
                                const Robot& robot);

}  // namespace leapp
