#include "leapp_ros2_control/leapp_controller.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

#include "leapp_ros2_control/handle_order.hpp"
#include "pluginlib/class_list_macros.hpp"

namespace leapp_ros2_control {

using controller_interface::CallbackReturn;
using controller_interface::interface_configuration_type;
using controller_interface::InterfaceConfiguration;
using controller_interface::return_type;

CallbackReturn LeappController::on_init() {
  auto_declare<std::string>("bundle", "");
  auto_declare<std::string>("robot", "");
  auto_declare<bool>("worker", true);
  auto_declare<bool>("linear", false);
  auto_declare<double>("blend_in", 1.0);
  auto_declare<std::string>("recording", "");
  return CallbackReturn::SUCCESS;
}

CallbackReturn LeappController::on_configure(const rclcpp_lifecycle::State&) {
  const auto node = get_node();
  subscriptions_.clear();  // their callbacks use members that configure() replaces
  leapp::ControllerOptions options;
  if (node->get_parameter("worker").as_bool()) options.execution = leapp::Execution::kWorker;
  if (node->get_parameter("linear").as_bool()) {
    options.interpolation = leapp::Interpolation::kLinear;
  }
  const double blend_in = node->get_parameter("blend_in").as_double();
  if (!(blend_in >= 0 && blend_in < 1e9)) {
    RCLCPP_ERROR(node->get_logger(), "blend_in is %g; expected a number of seconds", blend_in);
    return CallbackReturn::ERROR;
  }
  options.blend_in = std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * blend_in));
  options.recording = node->get_parameter("recording").as_string();
  try {
    controller_.configure(node->get_parameter("bundle").as_string(),
                          node->get_parameter("robot").as_string(), std::move(options));
  } catch (const std::exception& error) {
    RCLCPP_ERROR(node->get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  states_ = controller_.state_interfaces();
  commands_ = controller_.command_interfaces();
  state_values_.assign(states_.size(), 0);
  command_values_.assign(commands_.size(), 0);
  subscribe();
  return CallbackReturn::SUCCESS;
}

void LeappController::subscribe() {
  using Message = std_msgs::msg::Float64MultiArray;
  for (const leapp::Signal& sensor : controller_.controller().robot().sensors) {
    if (!controller_.is_command(sensor.name)) continue;
    subscriptions_.push_back(get_node()->create_subscription<Message>(
        "~/" + sensor.name, rclcpp::SystemDefaultsQoS(),
        [this, name = sensor.name](const Message& message) {
          if (controller_.set_command(name, message.data)) return;
          RCLCPP_WARN(get_node()->get_logger(),
                      "%s: got %zu values, which is not its number of elements", name.c_str(),
                      message.data.size());
        }));
  }
}

InterfaceConfiguration LeappController::state_interface_configuration() const {
  return {interface_configuration_type::INDIVIDUAL, states_};
}

InterfaceConfiguration LeappController::command_interface_configuration() const {
  return {interface_configuration_type::INDIVIDUAL, commands_};
}

CallbackReturn LeappController::on_activate(const rclcpp_lifecycle::State&) {
  try {
    state_order_ = handle_order(states_, state_interfaces_);
    command_order_ = handle_order(commands_, command_interfaces_);
    for (std::size_t i = 0; i < commands_.size(); ++i) {
      command_values_[i] = read_handle(command_interfaces_[command_order_[i]]);
    }
    std::vector<const double*> states;
    std::vector<double*> commands;
    for (double& value : state_values_) states.push_back(&value);
    for (double& value : command_values_) commands.push_back(&value);
    controller_.activate(states, commands);
  } catch (const std::exception& error) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

return_type LeappController::update(const rclcpp::Time&, const rclcpp::Duration&) {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    state_values_[i] = read_handle(state_interfaces_[state_order_[i]]);
  }
  controller_.update();
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    write_handle(command_interfaces_[command_order_[i]], command_values_[i]);
  }
  return return_type::OK;
}

CallbackReturn LeappController::on_deactivate(const rclcpp_lifecycle::State&) {
  controller_.deactivate();
  return CallbackReturn::SUCCESS;
}

}  // namespace leapp_ros2_control

PLUGINLIB_EXPORT_CLASS(leapp_ros2_control::LeappController,
                       controller_interface::ControllerInterface)
