// Code that the loops of Controller and Supervisor in Python share.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <cmath>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "leapp/controller.h"
#include "leapp/error.h"
#include "runtime_options.h"
#include "setting.h"

namespace leapp::python {

const char* name_of_state(ControllerState state);

/// A clock that Python computes. The controller reads it inside update(), which lets no exception
/// pass. An exception is stored, and rethrow() raises it afterwards. Used with the GIL held.
class PythonClock {
 public:
  /// Throws Error (LP002) for anything except None and a function.
  explicit PythonClock(pybind11::object callable) : callable_(std::move(callable)) {
    if (is_given() && PyCallable_Check(callable_.ptr()) == 0) {
      wrong_setting("clock", callable_, "a function that returns seconds, or None");
    }
  }

  /// Calls Python now; the next read() returns that time. Throws the exception that Python raises.
  void advance() {
    if (callable_.is_none()) return;
    now_ = call();
    advanced_ = true;
  }

  /// Returns the time, or the last one if Python raises.
  std::chrono::nanoseconds read() noexcept {
    if (std::exchange(advanced_, false)) return now_;
    try {
      now_ = call();
    } catch (...) {
      raised_ = std::current_exception();
    }
    return now_;
  }

  void rethrow() {
    advanced_ = false;
    if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
  }

  bool is_given() const { return !callable_.is_none(); }

 private:
  std::chrono::nanoseconds call() const {
    const pybind11::object time = callable_();
    const auto seconds = setting<double>("what clock() returns", time, "a number of seconds");
    if (std::isinf(seconds)) wrong_value("what clock() returns", time, "a finite time");
    return from_seconds(seconds);
  }

  pybind11::object callable_;
  std::chrono::nanoseconds now_{0};
  bool advanced_ = false;
  std::exception_ptr raised_;
};

/// Reads the keyword arguments of Controller and Supervisor. The clock must outlive the options.
ControllerOptions controller_options(const pybind11::dict& settings, PythonClock& clock);

/// Returns the names of the elements of sensors or actuators, by signal.
pybind11::dict elements_of(const std::vector<Signal>& signals);

/// Returns the number of interventions by name of the cause.
pybind11::dict counts_of(const std::array<std::uint64_t, kCauses>& counts);

/// Returns interventions as (tick, cause, port).
pybind11::list list_of(const std::vector<Intervention>& interventions);

/// Returns the path of a description file. Throws Error (LP002, LP003).
inline std::filesystem::path description(const std::string& name, pybind11::handle path) {
  return setting<std::filesystem::path>(name, path, "the path of a .yaml file");
}

/// Sets a sensor by name. Throws Error (LP652, LP603) for unsuitable values.
template <typename Loop>
void set_sensor(Loop& loop, pybind11::handle name, pybind11::handle values, pybind11::handle age) {
  const auto text = setting<std::string>("name", name, "the name of a sensor");
  const std::size_t sensor = loop.sensor(text);
  const std::vector<double> measured = numbers("values of sensor '" + text + "'", values);
  const auto seconds = setting<double>("age", age, "a number of seconds");
  const std::size_t expected = loop.sensor_values(sensor).size();
  if (measured.size() != expected || seconds < 0) {
    throw Error(Code::kPortShape, "sensor '" + text + "' has " + std::to_string(expected) +
                                      " elements and an age of at least 0, found " +
                                      std::to_string(measured.size()) + " and " +
                                      std::string(pybind11::repr(age)));
  }
  loop.set_sensor(sensor, measured, from_seconds(seconds)).value();
}

/// Returns the values of an actuator. Throws Error (LP652).
template <typename Loop>
std::vector<double> read_actuator(Loop& loop, pybind11::handle name) {
  const auto values = loop.actuator_values(
      loop.actuator(setting<std::string>("name", name, "the name of an actuator")));
  return {values.begin(), values.end()};
}

}  // namespace leapp::python
