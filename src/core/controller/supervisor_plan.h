// Everything about several bundles on one robot that does not change while they run.
//
// make_supervisor_plan() does all the look-ups by name once and throws for what does not fit. The
// tick (supervise.h) only follows indices. Plain values that own what they hold.
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
  std::size_t index = 0;        ///< of the flag, the sensor, or the output in RobotBinding::outputs
  DType dtype = DType::kUInt8;  ///< of the port
  std::size_t first = 0;        ///< of the elements that are looked at
  std::size_t count = 1;
  double above = std::numeric_limits<double>::infinity();
  double below = -std::numeric_limits<double>::infinity();
};

struct RulePlan {
  std::optional<std::size_t> from;  ///< a policy; none: any but `to`
  std::optional<std::size_t> to;    ///< a policy; none: an emergency stop
  ConditionPlan when;
};

struct SupervisorPlan {
  std::vector<TickPlan> policies;
  std::vector<RulePlan> rules;
  std::vector<std::string> flags;  ///< those that conditions name
};

/// One bundle on the robot.
struct PolicyOnRobot {
  const Bundle& bundle;
  const RobotBinding& binding;
};

/// Returns the options of one policy: those of all, with what its description says instead.
ControllerOptions options_of(const SupervisedPolicy& policy, const Supervision& supervision,
                             const ControllerOptions& options);

/// Plans bundles, in the order of the description, on a robot that each of them is bound to. Throws
/// Error: what make_tick_plan() throws, LP652 if the policies do not drive the same elements of the
/// actuators, LP656 for a condition or fallback that names what is not there.
SupervisorPlan make_supervisor_plan(const Supervision& supervision, const Robot& robot,
                                    std::span<const PolicyOnRobot> policies,
                                    const ControllerOptions& options);

}  // namespace leapp
