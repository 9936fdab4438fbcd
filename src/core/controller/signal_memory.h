// The values of sensors and actuators, which the program on a robot writes and reads by index.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "controller/tick_state.h"
#include "leapp/result.h"
#include "leapp/robot.h"

namespace leapp {

/// Returns the index of a signal. Throws Error (LP652) with the existing names if there is no such
/// signal. `side` is "sensor" or "actuator".
std::size_t find_signal(const std::vector<Signal>& signals, std::string_view name,
                        const char* side);

/// Allocates in the constructor only.
class SignalMemory {
 public:
  explicit SignalMemory(const TickPlan& plan)
      : sensors(make_sensors(plan)), actuators(make_actuators(plan)) {}

  /// Fails, and changes nothing, for an invalid index (LP652), and for a wrong number of values or
  /// a negative age (LP603).
  Result<void> set(std::size_t sensor, std::span<const double> values,
                   std::chrono::nanoseconds age) noexcept;
  Result<void> set_fresh(std::size_t sensor) noexcept;
  /// Returns an empty span for an invalid index.
  std::span<double> sensor_values(std::size_t sensor) noexcept;
  std::span<double> actuator_values(std::size_t actuator) noexcept;

  /// Marks all values as old, so that none counts as set in this tick.
  void end_tick() noexcept;

  std::vector<SensorValues> sensors;
  std::vector<std::vector<double>> actuators;
};

}  // namespace leapp
