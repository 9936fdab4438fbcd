// Handles of ros2_control by the names that a controller asked for, without depending on ROS: any
// type with get_name(), and get_value() or get_optional(), and set_value() will do.
#pragma once

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace leapp_ros2_control {

/// The handle of each name. Throws std::runtime_error naming the first that is missing.
template <typename Handles>
std::vector<std::size_t> handle_order(const std::vector<std::string>& names,
                                      const Handles& handles) {
  std::vector<std::size_t> order;
  for (const std::string& name : names) {
    std::size_t found = 0;
    while (found < handles.size() && handles[found].get_name() != name) ++found;
    if (found == handles.size()) {
      throw std::runtime_error("the hardware has no interface " + name);
    }
    order.push_back(found);
  }
  return order;
}

/// A handle that cannot be read now gives NaN, which a controller takes for what it is.
template <typename Handle>
double read_handle(const Handle& handle) {
  if constexpr (requires { handle.get_optional(); }) {
    const auto value = handle.get_optional();
    return value ? static_cast<double>(*value) : std::numeric_limits<double>::quiet_NaN();
  } else {
    return handle.get_value();
  }
}

template <typename Handle>
void write_handle(Handle& handle, double value) {
  (void)handle.set_value(value);
}

}  // namespace leapp_ros2_control
