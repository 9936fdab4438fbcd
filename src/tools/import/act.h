// The node that converts an action to joint targets, and outputs the gains.
#pragma once

#include "import/deployment.h"
#include "import/node_writer.h"

namespace leapp::importing {

/// Names of its ports.
inline constexpr const char* kAction = "action";
inline constexpr const char* kClippedAction = "clipped_action";

/// Returns whether the action is clipped before it is fed back. The clipped action is then an
/// output.
bool clips_action(const Deployment& deployment);

/// Reads `action`, an output of the policy's model. Outputs the targets of the joints that it
/// drives, `joint_pos_target` and `joint_vel_target`, and the gains of all joints, `kp` and `kd`,
/// each in the robot's order.
Part make_act(const Deployment& deployment, const Port& action, const onnx::Model& like);

}  // namespace leapp::importing
