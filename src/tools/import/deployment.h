// The common description of all formats: the parts of an observation, and the meaning of an action.
//
// Readers of formats fill a Deployment; observe.h and act.h convert it to nodes. Joints are in the
// robot's order everywhere, the order of the ports that a controller sees.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "leapp/contract.h"

namespace leapp::importing {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Source of an observation term's values.
enum class Source {
  kGiven,           ///< values that the controller supplies
  kJointPosition,   ///< measured positions, minus the default ones
  kJointVelocity,   ///< measured velocities
  kLastAction,      ///< the action of the previous tick, initially zero
  kReference,       ///< joint positions and velocities of the motion
  kAnchorPosition,  ///< the motion's anchor body, relative to the robot's
  kAnchorRotation,  ///< the same: the first two columns of the rotation, row by row
  kPhase,           ///< sine and cosine of a clock with `period`
};

struct Term {
  std::string name;
  Source source = Source::kGiven;
  std::int64_t size = 0;  ///< number of elements in one frame; 0 until it is known
  /// Joints of kJointPosition and kJointVelocity, in the policy's order.
  std::vector<std::int64_t> joints = {};
  std::vector<double> scale = {1};  ///< one for all elements, or one for each
  double lower = -kInfinity;
  double upper = kInfinity;
  bool scale_first = false;  ///< scale, then clip; otherwise clip, then scale
  std::vector<std::int64_t> ages = {
      0};                 ///< ages of the frames that it outputs, in order; 0 is the newest
  double period = 0;      ///< kPhase: period in ticks
  double first_tick = 0;  ///< kPhase: value of the clock in the first tick
};

/// Content of a history before its first frame.
enum class Fill { kFirstFrame, kZeros };

/// One element of the action.
struct Drive {
  std::int64_t joint = 0;
  bool velocity = false;  ///< the target is a velocity; otherwise a position
  double scale = 1;
  double offset = 0;
  double action_lower = -kInfinity;  ///< clips the action itself, before it is fed back
  double action_upper = kInfinity;
  double lower = -kInfinity;  ///< clips the target
  double upper = kInfinity;
};

/// The motion of a tracking policy, which its model contains.
struct Motion {
  std::vector<std::string> bodies;
  std::int64_t anchor = 0;  ///< among them
};

struct Deployment {
  std::string format;
  std::vector<std::string> joints;       ///< names
  std::vector<double> default_position;  ///< by joint
  std::vector<double> stiffness;         ///< for each joint; empty if unknown
  std::vector<double> damping;
  std::vector<Term> terms;
  bool time_major = false;  ///< frame by frame, each with all terms; otherwise term by term
  Fill fill = Fill::kFirstFrame;
  std::vector<Drive> drives;
  std::optional<Motion> motion = {};
  std::optional<double> frequency = {};
  std::vector<CommandRange> command_ranges = {};
  std::vector<std::string> notes = {};
};

}  // namespace leapp::importing
