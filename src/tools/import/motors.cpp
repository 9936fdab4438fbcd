#include "import/motors.h"

#include <algorithm>

#include "import/terms.h"

namespace leapp::importing {

Motors::Motors(const std::vector<std::int64_t>& map) : motors_(map) {
  std::sort(motors_.begin(), motors_.end());
  for (const std::int64_t motor : map) {
    joints_.push_back(std::lower_bound(motors_.begin(), motors_.end(), motor) - motors_.begin());
  }
}

std::vector<std::int64_t> Motors::joints(const std::vector<std::int64_t>& policy) const {
  std::vector<std::int64_t> places;
  for (const std::int64_t i : policy) places.push_back(joint(static_cast<std::size_t>(i)));
  return places;
}

std::vector<double> Motors::from_policy(const std::vector<double>& values) const {
  std::vector<double> by_joint(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    by_joint[static_cast<std::size_t>(joint(i))] = values[i];
  }
  return by_joint;
}

std::vector<double> Motors::from_motors(const std::vector<double>& values) const {
  std::vector<double> by_joint;
  for (const std::int64_t motor : motors_) {
    by_joint.push_back(values[static_cast<std::size_t>(motor)]);
  }
  return by_joint;
}

std::vector<std::string> Motors::names(const Fields& settings) const {
  std::vector<std::string> names;
  if (settings.has("joint_names")) {
    names = settings.texts("joint_names", "the joints in the order of their motors");
    settings.check_count("joint_names", names.size(), count(),
                         "one for each motor of the policy, by ascending motor");
    check_unique(settings, "joint_names", names);
    return names;
  }
  for (const std::int64_t motor : motors_) names.push_back("motor_" + std::to_string(motor));
  return names;
}

}  // namespace leapp::importing
