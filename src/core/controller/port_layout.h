// Positions of the named elements and time steps of a port in memory.
#pragma once

#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/robot_binding.h"

namespace leapp {

/// The layout of a port and the names of its elements; those of a quaternion are qw, qx, qy, qz.
struct NamedLayout {
  PortLayout layout;
  std::vector<std::string> names;  ///< empty without names
  std::string fault;               ///< why no robot can be bound to the port, or empty
};

NamedLayout find_layout(const Port& port, const PortContract& contract);

/// Renames the last four elements to qw, qx, qy, qz in the declared order, or by their own letters
/// ("w", "qw"). Returns false if the letters contradict the declared order.
bool name_quaternion(std::vector<std::string>& names, std::optional<QuaternionOrder> order);

}  // namespace leapp
