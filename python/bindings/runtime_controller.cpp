#include "runtime_controller.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <string>
#include <vector>

#include "leapp/controller.h"
#include "leapp/error.h"
#include "leapp/replay.h"
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

/// Called in update() and start() only, so with the interpreter's lock held.
std::function<std::chrono::nanoseconds()> clock_of(const py::object& callable) {
  if (callable.is_none()) return {};
  return [callable] { return from_seconds(callable().cast<double>()); };
}

ControllerOptions controller_options(const py::dict& settings) {
  ControllerOptions options;
  options.runtime = model_options(settings);
  if (!settings["frequency"].is_none()) options.frequency = settings["frequency"].cast<double>();
  if (settings["linear"].cast<bool>()) options.interpolation = Interpolation::kLinear;
  if (settings["worker"].cast<bool>()) options.execution = Execution::kWorker;
  if (!settings["deadline"].is_none()) {
    options.deadline = from_seconds(settings["deadline"].cast<double>());
  }
  options.blend_in = from_seconds(settings["blend_in"].cast<double>());
  options.clock = clock_of(settings["clock"]);
  if (!settings["recording"].is_none()) {
    options.recording = settings["recording"].cast<std::filesystem::path>();
  }
  return options;
}

class PyController {
 public:
  PyController(const std::filesystem::path& bundle, const std::filesystem::path& robot,
               const py::dict& settings)
      : controller_(bundle, read_robot(robot), controller_options(settings)) {}

  /// What the elements of sensors or actuators are called, by signal.
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

  /// With the interpreter's lock held: it keeps other threads out for as long as a tick takes.
  std::string update() { return name_of_state(controller_.update()); }

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

  Controller controller_;
};

py::object replay_to_python(const std::filesystem::path& recording,
                            const std::filesystem::path& bundle, double rtol, double atol) {
  const ReplayReport report = [&] {
    const py::gil_scoped_release release;
    return replay(recording, bundle, {.runtime = {}, .rtol = rtol, .atol = atol});
  }();
  py::dict result;
  result["ticks"] = report.ticks;
  result["difference"] = py::none();
  if (const auto& found = report.difference) {
    result["difference"] =
        py::make_tuple(found->tick, found->port, found->element, found->recorded, found->computed);
  }
  return result;
}

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
  controller.def(
      "start", [](PyController& self) { self.controller_.start(); },
      "Make policy, histories, fallbacks and counts begin anew.");
  controller.def(
      "stop", [](PyController& self) { self.controller_.stop(); },
      "End it: ``update()`` puts out nothing until ``start()``.");
  controller.def("set_sensor", &PyController::set_sensor, py::arg("name"), py::arg("values"),
                 py::arg("age") = 0.0,
                 "Say what a sensor measured ``age`` seconds ago, in the order of its elements.");
  controller.def("update", &PyController::update, kUpdateDoc);
  controller.def("actuator", &PyController::actuator, py::arg("name"),
                 "Return what an actuator is given, in the order of its elements.");
  controller.def("counts", &PyController::counts,
                 "Return how often the controller stepped in since ``start()``, by cause.");
  controller.def("_interventions", &PyController::interventions);
  module.def("replay", &replay_to_python, py::arg("recording"), py::arg("bundle"), py::arg("rtol"),
             py::arg("atol"));
}

}  // namespace leapp::python
