// The node that computes an observation: offsets, the policy's order of joints, clip, scale,
// history.
#pragma once

#include <vector>

#include "import/deployment.h"
#include "import/node_writer.h"
#include "leapp/tensor.h"

namespace leapp::importing {

/// An output of a node that the same node reads in the next tick, with its initial value.
struct StatePort {
  std::string input;
  std::string output;
  Tensor initial;
};

struct ObserveNode {
  Part part;
  std::vector<StatePort> states;
};

/// Names of the ports that are wired by name.
inline constexpr const char* kObservation = "observation";
inline constexpr const char* kLastAction = "last_action";
inline constexpr const char* kReferencePosition = "reference_joint_pos";
inline constexpr const char* kReferenceVelocity = "reference_joint_vel";
inline constexpr const char* kReferenceBodies = "reference_body_pos";
inline constexpr const char* kReferenceRotations = "reference_body_quat";

/// Returns the node. `observation` and `action` are the ports of the policy's model that it feeds
/// and reads. All sizes of terms must be known and add up to the observation.
ObserveNode make_observe(const Deployment& deployment, const Port& observation, const Port& action,
                         const onnx::Model& like);

}  // namespace leapp::importing
