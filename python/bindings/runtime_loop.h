// What the loops of Controller and Supervisor in Python share.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <cmath>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "leapp/controller.h"
#include "leapp/error.h"
#include "runtime_options.h"

namespace leapp::python {

const char* name_of_state(ControllerState state);

/// A clock that Python computes. The controller reads it inside update(), which lets no exception
/// out: an exception is kept, and rethrow() raises it afterwards. Used with the GIL held.
class PythonClock {
 public:
  explicit PythonClock(pybind11::object callable) : callable_(std::move(callable)) {}

  /// Calls Python now; the next read() returns that time. Throws what Python raises.
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
    double seconds = 0;
    try {
      seconds = time.cast<double>();
    } catch (const pybind11::cast_error&) {
      throw pybind11::type_error("clock= must return a number of seconds");
    }
    if (!std::isfinite(seconds)) throw pybind11::value_error("clock= must return a finite time");
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

/// Returns counts of interventions, by name of the cause.
pybind11::dict counts_of(const std::array<std::uint64_t, kCauses>& counts);

/// Returns interventions as (tick, cause, port).
pybind11::list list_of(const std::vector<Intervention>& interventions);

/// Sets a sensor by name. Throws Error (LP652, LP603) for what does not fit.
template <typename Loop>
void set_sensor(Loop& loop, const std::string& name, const std::vector<double>& values,
                double age) {
  const std::size_t sensor = loop.sensor(name);
  const std::size_t expected = loop.sensor_values(sensor).size();
  if (values.size() != expected || !(age >= 0)) {
    throw Error(Code::kPortShape, "sensor '" + name + "' has " + std::to_string(expected) +
                                      " elements and an age of at least 0, found " +
                                      std::to_string(values.size()) + " and " +
                                      std::to_string(age));
  }
  loop.set_sensor(sensor, values, from_seconds(age)).value();
}

}  // namespace leapp::python
