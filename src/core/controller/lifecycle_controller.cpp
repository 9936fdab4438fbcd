#include "leapp/lifecycle_controller.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "base/check.h"
#include "base/utf8.h"
#include "controller/triple_buffer.h"
#include "leapp/error.h"

namespace leapp {
namespace {

/// Returns the default interface names of a signal; empty if unknown.
std::string default_interfaces(const std::string& kind) {
  if (kind == "kp") return "{}/kp";
  if (kind == "kd") return "{}/kd";
  const std::size_t joint = kind.find("/joint/");
  if (kind.starts_with("command/") || joint == std::string::npos) return {};
  const std::string last = kind.substr(joint + std::string_view("/joint/").size());
  return "{}/" + (last == "torques" ? "effort" : last);
}

std::string interface_name(std::string pattern, const std::string& element) {
  const std::size_t at = pattern.find("{}");
  return pattern.replace(at, 2, element);
}

/// Compares bits, so an unchanged NaN is not a change.
bool is_same(double a, double b) noexcept {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

class LifecycleController::Impl {
 public:
  void configure(const std::filesystem::path& bundle, const std::filesystem::path& file,
                 ControllerOptions options) {
    const Robot robot = read_robot(file);
    name_interfaces(robot.sensors, sensors_, states_);
    name_interfaces(robot.actuators, actuators_, commands_);
    for (std::size_t i = 0; i < robot.sensors.size(); ++i) {
      const bool has_handles =
          std::any_of(sensors_.begin(), sensors_.end(),
                      [&](const HandleRange& range) { return range.signal == i; });
      if (has_handles) continue;
      const Signal& sensor = robot.sensors[i];
      received_.push_back({sensor.name, i, std::make_unique<TripleBuffer>(sensor.elements.size())});
    }
    for (const Signal& actuator : robot.actuators) {
      require(!actuator.interfaces.empty() || !default_interfaces(actuator.kind).empty(),
              Code::kRobotFile,
              file.string() + ": actuator " + quote_for_message(actuator.name) +
                  " needs 'interfaces', such as \"gripper/{}\"");
    }
    beats_.resize(robot.sensors.size());
    controller_.emplace(bundle, robot, std::move(options));
  }

  void activate(std::span<const double* const> states, std::span<double* const> commands) {
    required();
    require(!active_, Code::kControllerState, "the controller is active; deactivate() it first");
    require(states.size() == states_.size() && commands.size() == commands_.size(),
            Code::kControllerState,
            "expected " + std::to_string(states_.size()) + " state and " +
                std::to_string(commands_.size()) + " command handles, found " +
                std::to_string(states.size()) + " and " + std::to_string(commands.size()));
    for (std::size_t i = 0; i < states.size(); ++i) {
      require(states[i] != nullptr, Code::kControllerState, "no handle for " + states_[i]);
    }
    for (std::size_t i = 0; i < commands.size(); ++i) {
      require(commands[i] != nullptr, Code::kControllerState, "no handle for " + commands_[i]);
    }
    state_handles_.assign(states.begin(), states.end());
    command_handles_.assign(commands.begin(), commands.end());
    // An element without an output keeps its value.
    for (const HandleRange& range : actuators_) {
      const std::span<double> values = controller_->actuator_values(range.signal);
      for (std::size_t i = 0; i < range.count; ++i) values[i] = *command_handles_[range.first + i];
    }
    controller_->start();
    first_ = true;
    active_ = true;
  }

  ControllerState update() noexcept {
    if (!active_) return ControllerState::kInactive;
    for (const HandleRange& range : sensors_) {
      const std::span<double> values = controller_->sensor_values(range.signal);
      bool measured = first_;
      for (std::size_t i = 0; i < range.count; ++i) {
        const double value = *state_handles_[range.first + i];
        measured = measured || (!range.heartbeat && !is_same(values[i], value));
        values[i] = value;
      }
      if (range.heartbeat) {
        const double beat = *state_handles_[*range.heartbeat];
        measured = measured || !is_same(beats_[range.signal], beat);
        beats_[range.signal] = beat;
      }
      if (measured) (void)controller_->set_fresh(range.signal);  // a sensor of this robot
    }
    first_ = false;
    for (const Received& one : received_) {
      if (const auto values = one.buffer->read(); !values.empty()) {
        (void)controller_->set_sensor(one.sensor, values);  // set_command() checked the number
      }
    }
    const ControllerState state = controller_->update();
    for (const HandleRange& range : actuators_) {
      const std::span<const double> values = controller_->actuator_values(range.signal);
      for (std::size_t i = 0; i < range.count; ++i) *command_handles_[range.first + i] = values[i];
    }
    return state;
  }

  void deactivate() {
    if (!active_) return;
    controller_->stop();
    active_ = false;
  }

  /// Returns the buffer of a sensor that has no interfaces, or null.
  TripleBuffer* command_of(std::string_view name) const noexcept {
    for (const Received& one : received_) {
      if (one.name == name) return one.buffer.get();
    }
    return nullptr;
  }

  void required() const {
    require(controller_.has_value(), Code::kControllerState,
            "the controller was not configured; call configure() first");
  }

  std::optional<Controller> controller_;
  std::vector<std::string> states_;
  std::vector<std::string> commands_;

 private:
  /// A signal, and the positions of its elements among the handles.
  struct HandleRange {
    std::size_t signal = 0;
    std::size_t first = 0;
    std::size_t count = 0;
    std::optional<std::size_t> heartbeat =
        {};  // handle of the interface that changes with each measurement
  };
  /// A sensor without interfaces, set by set_command().
  struct Received {
    std::string name;
    std::size_t sensor = 0;
    std::unique_ptr<TripleBuffer> buffer;
  };

  static void name_interfaces(const std::vector<Signal>& signals, std::vector<HandleRange>& ranges,
                              std::vector<std::string>& names) {
    for (std::size_t i = 0; i < signals.size(); ++i) {
      const Signal& signal = signals[i];
      const std::string pattern =
          signal.interfaces.empty() ? default_interfaces(signal.kind) : signal.interfaces;
      if (pattern.empty()) continue;
      ranges.push_back({i, names.size(), signal.elements.size()});
      for (const std::string& element : signal.elements) {
        names.push_back(interface_name(pattern, element));
      }
      if (signal.heartbeat.empty()) continue;
      // Sensors may share an interface, but it is claimed only once.
      const auto known = std::find(names.begin(), names.end(), signal.heartbeat);
      ranges.back().heartbeat = static_cast<std::size_t>(known - names.begin());
      if (known == names.end()) names.push_back(signal.heartbeat);
    }
  }

  std::vector<HandleRange> sensors_;
  std::vector<HandleRange> actuators_;
  std::vector<Received> received_;
  std::vector<double> beats_;  // last heartbeat of each sensor
  bool first_ = true;          // no update() since activate() so far
  std::vector<const double*> state_handles_;
  std::vector<double*> command_handles_;
  bool active_ = false;
};

LifecycleController::LifecycleController() : impl_(std::make_unique<Impl>()) {}
LifecycleController::~LifecycleController() = default;

void LifecycleController::configure(const std::filesystem::path& bundle,
                                    const std::filesystem::path& robot, ControllerOptions options) {
  impl_ = std::make_unique<Impl>();  // first releases the recording and the threads of the old one
  try {
    impl_->configure(bundle, robot, std::move(options));
  } catch (...) {
    impl_ = std::make_unique<Impl>();
    throw;
  }
}

const std::vector<std::string>& LifecycleController::state_interfaces() const {
  impl_->required();
  return impl_->states_;
}

const std::vector<std::string>& LifecycleController::command_interfaces() const {
  impl_->required();
  return impl_->commands_;
}

void LifecycleController::activate(std::span<const double* const> states,
                                   std::span<double* const> commands) {
  impl_->activate(states, commands);
}

ControllerState LifecycleController::update() noexcept {
  return impl_->update();
}

void LifecycleController::deactivate() {
  impl_->deactivate();
}

bool LifecycleController::set_command(std::string_view sensor,
                                      std::span<const double> values) noexcept {
  TripleBuffer* const command = impl_->command_of(sensor);
  if (command == nullptr || command->size() != values.size()) return false;
  command->write(values);
  return true;
}

bool LifecycleController::is_command(std::string_view sensor) const noexcept {
  return impl_->command_of(sensor) != nullptr;
}

Controller& LifecycleController::controller() const {
  impl_->required();
  return *impl_->controller_;
}

}  // namespace leapp
