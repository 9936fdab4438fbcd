#include "runtime_controller.h"

#include <pybind11/stl.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "leapp/controller.h"
#include "leapp/error.h"
#include "runtime_hold.h"
#include "runtime_loop.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

constexpr const char* kController = "Controller";

class PyController {
 public:
  PyController(py::handle bundle, py::handle robot, const py::dict& settings)
      : clock_(std::make_unique<PythonClock>(settings["clock"])),
        controller_(description("bundle", bundle), read_robot(description("robot", robot)),
                    controller_options(settings, *clock_)) {}

  ~PyController() {
    const py::gil_scoped_release release;  // it joins a thread that may log in Python
    const Controller ended = std::move(controller_);
  }
  PyController(const PyController&) = delete;
  PyController& operator=(const PyController&) = delete;

  void start() {
    const Hold hold(busy_, kController);
    end();
    controller_.start();
    try {
      clock_->rethrow();
    } catch (...) {
      end();
      throw;
    }
  }

  void stop() {
    const Hold hold(busy_, kController);
    end();
  }

  void set_sensor(py::handle name, py::handle values, py::handle age) {
    python::set_sensor(controller_, name, values, age);
  }

  /// Runs a tick while holding the interpreter lock, which keeps other threads out. If the clock
  /// raises, it does so before any value is read or sent.
  std::string update() {
    const Hold hold(busy_, kController);
    clock_->advance();
    const ControllerState state = controller_.update();
    clock_->rethrow();
    return name_of_state(state);
  }

  std::vector<double> actuator(py::handle name) { return read_actuator(controller_, name); }

  py::dict counts() const { return counts_of(controller_.counts()); }

  py::list interventions() const { return list_of(controller_.interventions()); }

  /// Stops, and waits for the worker, which may log in Python.
  void end() {
    const py::gil_scoped_release release;
    controller_.stop();
  }

  std::unique_ptr<PythonClock> clock_;  // used by the controller
  std::atomic<bool> busy_{false};       // true during start(), stop() or update()
  Controller controller_;
};

constexpr const char* kUpdateDoc = R"(Run one tick of the loop.

Returns:
    What was put out: ``"inactive"``, ``"waiting"``, ``"running"``, ``"fallback"`` or
    ``"stopped"``.)";

// Adds the properties.
void bind_properties(py::class_<PyController>& controller) {
  controller.def_property_readonly(
      "sensors",
      [](const PyController& self) { return elements_of(self.controller_.robot().sensors); },
      "The robot's sensors, with the names of their elements, in order.");
  controller.def_property_readonly(
      "actuators",
      [](const PyController& self) { return elements_of(self.controller_.robot().actuators); },
      "The robot's actuators, with the names of their elements, in order.");
  controller.def_property_readonly(
      "decimation", [](const PyController& self) { return self.controller_.decimation(); },
      "Number of loop ticks per tick of the policy.");
  controller.def_property_readonly(
      "ticks", [](const PyController& self) { return self.controller_.ticks(); },
      "Ticks of the loop since ``start()``.");
  controller.def_property_readonly(
      "failure", [](const PyController& self) { return std::string(self.controller_.failure()); },
      "The error of the last failed policy tick; empty if there is none.");
  controller.def_property_readonly(
      "dropped", [](const PyController& self) { return self.controller_.dropped(); },
      "Number of values that the recording lost.");
}

}  // namespace

void bind_controller(py::module_& module) {
  py::class_<PyController> controller(module, "Controller");
  controller.def(py::init<py::handle, py::handle, const py::dict&>(), py::arg("bundle"),
                 py::arg("robot"), py::arg("settings"));
  bind_properties(controller);
  controller.def("start", &PyController::start,
                 "Start with fresh policy state, histories, fallbacks and counts.");
  controller.def("stop", &PyController::stop,
                 "Stop: ``update()`` sends nothing until ``start()``.");
  controller.def(
      "set_sensor", &PyController::set_sensor, py::arg("name"), py::arg("values"),
      py::arg("age") = 0.0,
      "Set the values that a sensor measured ``age`` seconds ago, in the order of its elements.");
  controller.def("update", &PyController::update, kUpdateDoc);
  controller.def("actuator", &PyController::actuator, py::arg("name"),
                 "Return the values of an actuator, in the order of its elements.");
  controller.def("counts", &PyController::counts,
                 "Return the number of interventions since ``start()``, by cause.");
  controller.def("_interventions", &PyController::interventions);
}

}  // namespace leapp::python
