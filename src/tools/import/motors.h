// Motors and joints: a policy counts its joints in one order, the robot's bus in another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "import/fields.h"

namespace leapp::importing {

/// The motors of a robot that a policy knows, ascending; that is the robot's order of joints.
class Motors {
 public:
  /// Creates the map: joint i of the policy is motor map[i]. The caller has checked that there are
  /// no duplicates.
  explicit Motors(const std::vector<std::int64_t>& map);

  std::size_t count() const noexcept { return motors_.size(); }
  const std::vector<std::int64_t>& motors() const noexcept { return motors_; }
  /// Returns the place of the policy's joint i among the robot's.
  std::int64_t joint(std::size_t i) const { return joints_[i]; }
  /// Does the same for a list of the policy's joints.
  std::vector<std::int64_t> joints(const std::vector<std::int64_t>& policy) const;
  /// Values by the policy's joints, put by the robot's.
  std::vector<double> from_policy(const std::vector<double>& values) const;
  /// Values by motor, taken for the robot's joints; there is one for each motor.
  std::vector<double> from_motors(const std::vector<double>& values) const;
  /// Names from the setting `joint_names`, or "motor_3".
  std::vector<std::string> names(const Fields& settings) const;

 private:
  std::vector<std::int64_t> motors_;
  std::vector<std::int64_t> joints_;
};

}  // namespace leapp::importing
