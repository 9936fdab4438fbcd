#include "runtime_controller.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cmath>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "leapp/controller.h"
#include "leapp/error.h"
#include "runtime_options.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

const char* name_of_state(ControllerState state) {
  switch (state) {
    case ControllerState::kInactive:
      return "inactive";
    case ControllerState::kWaiting:
      return "waiting";
    case ControllerState::kRunning:
      return "running";
    case ControllerState::kFallback:
      return "fallback";
    case ControllerState::kStopped:
      return "stopped";
  }
  return "";
}

/// A clock that Python computes. The controller reads it inside update(), which lets no exception
/// out: an exception is kept, and rethrow() raises it afterwards. Used with the GIL held.
class PythonClock {
 public:
  explicit PythonClock(py::object callable) : callable_(std::move(callable)) {}

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
    const py::object time = callable_();
    double seconds = 0;
    try {
      seconds = time.cast<double>();
    } catch (const py::cast_error&) {
      throw py::type_error("clock= must return a number of seconds");
    }
    if (!std::isfinite(seconds)) throw py::value_error("clock= must return a finite time");
    return from_seconds(seconds);
  }

  py::object callable_;
  std::chrono::nanoseconds now_{0};
  bool advanced_ = false;
  std::exception_ptr raised_;
};

ControllerOptions controller_options(const py::dict& settings, PythonClock& clock) {
  ControllerOptions options;
  options.runtime = model_options(settings);
  if (!settings["frequency"].is_none()) options.frequency = settings["frequency"].cast<double>();
  if (settings["linear"].cast<bool>()) options.interpolation = Interpolation::kLinear;
  if (settings["worker"].cast<bool>()) options.execution = Execution::kWorker;
  if (!settings["deadline"].is_none()) {
    options.deadline = from_seconds(settings["deadline"].cast<double>());
  }
  options.blend_in = from_seconds(settings["blend_in"].cast<double>());
  if (clock.is_given()) options.clock = [&clock] { return clock.read(); };
  if (!settings["recording"].is_none()) {
    options.recording = settings["recording"].cast<std::filesystem::path>();
  }
  return options;
}

class PyController {
 public:
  PyController(const std::filesystem::path& bundle, const std::filesystem::path& robot,
               const py::dict& settings)
      : clock_(std::make_unique<PythonClock>(settings["clock"])),
        controller_(bundle, read_robot(robot), controller_options(settings, *clock_)) {}

  ~PyController() {
    const py::gil_scoped_release release;  // it joins a thread that may have something to log
    const Controller ended = std::move(controller_);
  }
  PyController(const PyController&) = delete;
  PyController& operator=(const PyController&) = delete;

  void start() {
    controller_.start();
    clock_->rethrow();
  }

  /// Returns the names of the elements of sensors or actuators, by signal.
  static py::dict elements(const std::vector<Signal>& signals) {
    py::dict result;
    for (const Signal& signal : signals) result[py::str(signal.name)] = signal.elements;
    return result;
  }

  void set_sensor(const std::string& name, const std::vector<double>& values, double age) {
    const std::size_t sensor = controller_.sensor(name);
    const std::size_t expected = controller_.sensor_values(sensor).size();
    if (values.size() != expected || !(age >= 0)) {
      throw Error(Code::kPortShape, "sensor '" + name + "' has " + std::to_string(expected) +
                                        " elements and an age of at least 0, found " +
                                        std::to_string(values.size()) + " and " +
                                        std::to_string(age));
    }
    controller_.set_sensor(sensor, values, from_seconds(age));
  }

  /// Runs a tick while holding the interpreter's lock, which keeps other threads out. A clock that
  /// raises does so before anything is read or sent.
  std::string update() {
    clock_->advance();
    const ControllerState state = controller_.update();
    clock_->rethrow();
    return name_of_state(state);
  }

  std::vector<double> actuator(const std::string& name) {
    const auto values = controller_.actuator_values(controller_.actuator(name));
    return {values.begin(), values.end()};
  }

  py::dict counts() const {
    py::dict result;
    for (std::size_t i = 0; i < kCauses; ++i) {
      result[py::str(std::string(name_of(static_cast<Cause>(i))))] = controller_.counts()[i];
    }
    return result;
  }

  py::list interventions() const {
    py::list result;
    for (const Intervention& one : controller_.interventions()) {
      result.append(
          py::make_tuple(one.tick, std::string(name_of(one.cause)), std::string(one.port)));
    }
    return result;
  }

  std::unique_ptr<PythonClock> clock_;  // the controller reads it
  Controller controller_;
};

constexpr const char* kUpdateDoc = R"(Run one tick of the loop.

Returns:
    What was put out: ``"inactive"``, ``"waiting"``, ``"running"``, ``"fallback"`` or
    ``"stopped"``.)";

// What there is.
void bind_properties(py::class_<PyController>& controller) {
  controller.def_property_readonly(
      "sensors",
      [](const PyController& self) { return self.elements(self.controller_.robot().sensors); },
      "The robot's sensors, and what their elements are called, in order.");
  controller.def_property_readonly(
      "actuators",
      [](const PyController& self) { return self.elements(self.controller_.robot().actuators); },
      "The robot's actuators, and what their elements are called, in order.");
  controller.def_property_readonly(
      "decimation", [](const PyController& self) { return self.controller_.decimation(); },
      "Ticks of the loop for one of the policy's.");
  controller.def_property_readonly(
      "ticks", [](const PyController& self) { return self.controller_.ticks(); },
      "Ticks of the loop since ``start()``.");
  controller.def_property_readonly(
      "failure", [](const PyController& self) { return std::string(self.controller_.failure()); },
      "How the policy failed the last time that it did; empty when it never has.");
  controller.def_property_readonly(
      "dropped", [](const PyController& self) { return self.controller_.dropped(); },
      "Values that the recording had no room for.");
}

}  // namespace

void bind_controller(py::module_& module) {
  py::class_<PyController> controller(module, "Controller");
  controller.def(
      py::init<const std::filesystem::path&, const std::filesystem::path&, const py::dict&>(),
      py::arg("bundle"), py::arg("robot"), py::arg("settings"));
  bind_properties(controller);
  controller.def("start", &PyController::start,
                 "Start with fresh policy state, histories, fallbacks and counts.");
  controller.def(
      "stop", [](PyController& self) { self.controller_.stop(); },
      "Stop: ``update()`` sends nothing until ``start()``.");
  controller.def("set_sensor", &PyController::set_sensor, py::arg("name"), py::arg("values"),
                 py::arg("age") = 0.0,
                 "Set what a sensor measured ``age`` seconds ago, in the order of its elements.");
  controller.def("update", &PyController::update, kUpdateDoc);
  controller.def("actuator", &PyController::actuator, py::arg("name"),
                 "Return what an actuator is given, in the order of its elements.");
  controller.def("counts", &PyController::counts,
                 "Return how often the controller stepped in since ``start()``, by cause.");
  controller.def("_interventions", &PyController::interventions);
}

}  // namespace leapp::python
