#include "controller/signal_memory.h"

#include <algorithm>
#include <string>

#include "base/utf8.h"
#include "leapp/error.h"

namespace leapp {
namespace {

Failure no_sensor() noexcept {
  return {Code::kNotBound,
          "there is no sensor with that index; use an index that sensor() returned"};
}

}  // namespace

std::size_t find_signal(const std::vector<Signal>& signals, std::string_view name,
                        const char* side) {
  std::string names;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    if (signals[i].name == name) return i;
    names += (names.empty() ? "" : ", ") + signals[i].name;
  }
  throw Error(Code::kNotBound, std::string("the robot has no ") + side + " " +
                                   quote_for_message(name) + "; it has: " + names);
}

Result<void> SignalMemory::set(std::size_t sensor, std::span<const double> values,
                               std::chrono::nanoseconds age) noexcept {
  if (sensor >= sensors.size()) return no_sensor();
  SensorValues& signal = sensors[sensor];
  if (values.size() != signal.values.size()) {
    return Failure(Code::kPortShape,
                   "the number of values is not the number of elements of the sensor; nothing was "
                   "set");
  }
  if (age.count() < 0) {
    return Failure(Code::kPortShape, "the age of a sensor's values is negative; nothing was set");
  }
  std::copy(values.begin(), values.end(), signal.values.begin());
  signal.age = age;
  signal.fresh = true;
  return {};
}

Result<void> SignalMemory::set_fresh(std::size_t sensor) noexcept {
  if (sensor >= sensors.size()) return no_sensor();
  sensors[sensor].age = std::chrono::nanoseconds(0);
  sensors[sensor].fresh = true;
  return {};
}

std::span<double> SignalMemory::sensor_values(std::size_t sensor) noexcept {
  return sensor < sensors.size() ? std::span(sensors[sensor].values) : std::span<double>();
}

std::span<double> SignalMemory::actuator_values(std::size_t actuator) noexcept {
  return actuator < actuators.size() ? std::span(actuators[actuator]) : std::span<double>();
}

void SignalMemory::end_tick() noexcept {
  for (SensorValues& sensor : sensors) sensor.fresh = false;
}

}  // namespace leapp
