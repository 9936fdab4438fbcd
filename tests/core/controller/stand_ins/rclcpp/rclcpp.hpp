// As much of rclcpp as the ROS 2 package uses, for testing it where no ROS is.
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace rclcpp {

struct Time {};
struct Duration {};
struct SystemDefaultsQoS {};

/// What was logged, as lines.
struct Logger {
  std::vector<std::string>* lines;
};

template <typename... Arguments>
void log_line(const Logger& logger, const char* format, Arguments... arguments) {
  std::string text(4096, '\0');
  text.resize(
      static_cast<std::size_t>(std::snprintf(text.data(), text.size(), format, arguments...)));
  logger.lines->push_back(text);
}

class Parameter {
 public:
  using Value = std::variant<bool, double, std::string>;
  explicit Parameter(Value value) : value_(std::move(value)) {}
  bool as_bool() const { return std::get<bool>(value_); }
  double as_double() const { return std::get<double>(value_); }
  std::string as_string() const { return std::get<std::string>(value_); }

 private:
  Value value_;
};

template <typename Message>
struct Subscription {
  using SharedPtr = std::shared_ptr<Subscription>;
  std::function<void(const Message&)> callback;
};

class Node {
 public:
  std::map<std::string, Parameter::Value> parameters;
  std::map<std::string, std::shared_ptr<void>> subscriptions;
  std::vector<std::string> lines;

  Parameter get_parameter(const std::string& name) const { return Parameter(parameters.at(name)); }
  Logger get_logger() { return {&lines}; }
  template <typename Message, typename Callback>
  typename Subscription<Message>::SharedPtr create_subscription(const std::string& topic,
                                                                const SystemDefaultsQoS&,
                                                                Callback callback) {
    auto made = std::make_shared<Subscription<Message>>(Subscription<Message>{callback});
    subscriptions[topic] = made;
    return made;
  }
};

}  // namespace rclcpp

#define RCLCPP_ERROR(logger, ...) rclcpp::log_line(logger, __VA_ARGS__)
#define RCLCPP_WARN(logger, ...) rclcpp::log_line(logger, __VA_ARGS__)
