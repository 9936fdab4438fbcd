// Everything about several bundles on one robot that does not change at run time.
//
// make_supervisor_plan() does all look-ups by name once, and throws for mismatches. The tick
// (supervise.h) only uses indices. Plain values that own their members.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "controller/tick_plan.h"
#include "leapp/supervision.h"

namespace leapp {

struct ConditionPlan {
  SwitchCondition::Source source = SwitchCondition::Source::kFlag;
  std::size_t index = 0;  ///< index of the flag, the sensor, or the output in RobotBinding::outputs
  DType dtype = DType::kUInt8;  ///< of the port
  std::size_t first = 0;        ///< range of the tested elements
  std::size_t count = 1;
  double above = std::numeric_limits<double>::infinity();
  double below = -std::numeric_limits<double>::infinity();
};

struct RulePlan {
  std::optional<std::size_t> from;  ///< a policy; none: any except `to`
  std::optional<std::size_t> to;    ///< a policy; none: an emergency stop
  ConditionPlan when;
};

struct SupervisorPlan {
  std::vector<TickPlan> policies;
  std::vector<RulePlan> rules;
  std::vector<std::string> flags;  ///< flags that conditions use
};

/// One bundle on the robot.
struct PolicyOnRobot {
  const Bundle& bundle;
  const RobotBinding& binding;
};

/// Returns the options of one policy: the common options, overridden by its description.
ControllerOptions options_of(const SupervisedPolicy& policy, const Supervision& supervision,
                             const ControllerOptions& options);

/// Plans bundles, in the order of the description, on a robot to which each of them is bound.
/// Throws the errors of make_tick_plan(), LP652 if the policies do not drive the same elements of
/// the actuators, and LP656 for a condition or fallback with an unknown name.
SupervisorPlan make_supervisor_plan(const Supervision& supervision, const Robot& robot,
                                    std::span<const PolicyOnRobot> policies,
                                    const ControllerOptions& options);

}  // namespace leapp
