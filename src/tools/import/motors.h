// Motors and joints: the policy's order of joints differs from the order of the robot's bus.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "import/fields.h"

namespace leapp::importing {

/// The motors of a robot that a policy drives, in ascending order, which is the robot's order of
/// joints.
class Motors {
 public:
  /// Creates the map: joint i of the policy is motor map[i]. The caller has checked that there are
  /// no duplicates.
  explicit Motors(const std::vector<std::int64_t>& map);

  std::size_t count() const noexcept { return motors_.size(); }
  const std::vector<std::int64_t>& motors() const noexcept { return motors_; }
  /// Returns the index of the policy's joint i in the robot's order.
  std::int64_t joint(std::size_t i) const { return joints_[i]; }
  /// Returns the indices of a list of the policy's joints in the robot's order.
  std::vector<std::int64_t> joints(const std::vector<std::int64_t>& policy) const;
  /// Reorders values from the policy's joints to the robot's order.
  std::vector<double> from_policy(const std::vector<double>& values) const;
  /// Selects the values of the robot's joints from values by motor; there is one for each motor.
  std::vector<double> from_motors(const std::vector<double>& values) const;
  /// Names from the setting `joint_names`, or "motor_3".
  std::vector<std::string> names(const Fields& settings) const;

 private:
  std::vector<std::int64_t> motors_;
  std::vector<std::int64_t> joints_;
};

}  // namespace leapp::importing
