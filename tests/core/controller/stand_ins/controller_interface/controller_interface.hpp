// As much of ros2_control as the ROS 2 package uses, for testing it where no ROS is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rclcpp/rclcpp.hpp"
#include "rclcpp_lifecycle/state.hpp"

namespace controller_interface {

enum class return_type { OK, ERROR };
enum class CallbackReturn { SUCCESS, FAILURE, ERROR };
enum class interface_configuration_type { ALL, INDIVIDUAL, NONE };

struct InterfaceConfiguration {
  interface_configuration_type type;
  std::vector<std::string> names;
};

/// A handle of the hardware's.
struct LoanedInterface {
  std::string name;
  std::optional<double> value;
  const std::string& get_name() const { return name; }
  std::optional<double> get_optional() const { return value; }
  bool set_value(double given) {
    value = given;
    return true;
  }
};

class ControllerInterface {
 public:
  virtual ~ControllerInterface() = default;
  virtual CallbackReturn on_init() = 0;
  virtual CallbackReturn on_configure(const rclcpp_lifecycle::State&) = 0;
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State&) = 0;
  virtual CallbackReturn on_deactivate(const rclcpp_lifecycle::State&) = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual return_type update(const rclcpp::Time&, const rclcpp::Duration&) = 0;

  std::shared_ptr<rclcpp::Node> get_node() const { return node_; }

 protected:
  template <typename T>
  void auto_declare(const std::string& name, const T& value) {
    node_->parameters.emplace(name, value);
  }
  std::vector<LoanedInterface> state_interfaces_;
  std::vector<LoanedInterface> command_interfaces_;

 private:
  std::shared_ptr<rclcpp::Node> node_ = std::make_shared<rclcpp::Node>();
};

}  // namespace controller_interface
