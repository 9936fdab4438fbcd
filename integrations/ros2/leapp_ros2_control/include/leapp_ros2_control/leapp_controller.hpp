// A ros2_control controller that runs a LEAPP bundle.
//
// Parameters: `bundle` and `robot`, paths of the two .yaml files; `worker` (bool), `linear` (bool),
// `blend_in` (seconds), `recording` (a path). For each sensor of the robot's description that has
// no hardware interfaces there is a subscription ~/NAME of std_msgs/Float64MultiArray: commands.
//
// All it adds to leapp::LifecycleController is ROS's own: parameters, handles by name, messages,
// and what to say in the log. The rate of the controller manager must be the robot's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controller_interface/controller_interface.hpp"
#include "leapp/lifecycle_controller.h"
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_lifecycle/state.hpp"
#include "std_msgs/msg/float64_multi_array.hpp"

namespace leapp_ros2_control {

class LeappController : public controller_interface::ControllerInterface {
 public:
  controller_interface::CallbackReturn on_init() override;
  controller_interface::CallbackReturn on_configure(const rclcpp_lifecycle::State& before) override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;
  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::CallbackReturn on_activate(const rclcpp_lifecycle::State& before) override;
  controller_interface::return_type update(const rclcpp::Time& time,
                                           const rclcpp::Duration& period) override;
  controller_interface::CallbackReturn on_deactivate(
      const rclcpp_lifecycle::State& before) override;

 private:
  void subscribe();

  leapp::LifecycleController controller_;
  std::vector<std::string> states_;
  std::vector<std::string> commands_;
  // What the handles hold, in the order of their names: a handle gives and takes copies.
  std::vector<double> state_values_;
  std::vector<double> command_values_;
  std::vector<std::size_t> state_order_;  // handle of each name
  std::vector<std::size_t> command_order_;
  std::vector<rclcpp::Subscription<std_msgs::msg::Float64MultiArray>::SharedPtr> subscriptions_;
};

}  // namespace leapp_ros2_control
