#include "runtime_supervisor.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "leapp/supervisor.h"
#include "runtime_hold.h"
#include "runtime_loop.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

constexpr const char* kSupervisor = "Supervisor";

class PySupervisor {
 public:
  PySupervisor(py::handle supervision, py::handle robot, const py::dict& settings)
      : clock_(std::make_unique<PythonClock>(settings["clock"])),
        supervisor_(read_supervision(description("supervision", supervision)),
                    read_robot(description("robot", robot)),
                    controller_options(settings, *clock_)) {}

  ~PySupervisor() {
    const py::gil_scoped_release release;  // it joins threads that may log in Python
    const Supervisor ended = std::move(supervisor_);
  }
  PySupervisor(const PySupervisor&) = delete;
  PySupervisor& operator=(const PySupervisor&) = delete;

  void start() {
    const Hold hold(busy_, kSupervisor);
    end();
    supervisor_.start();
    try {
      clock_->rethrow();
    } catch (...) {
      end();
      throw;
    }
  }

  void stop() {
    const Hold hold(busy_, kSupervisor);
    end();
  }

  void request(py::handle policy) { supervisor_.request(index_of(policy)).value(); }

  void set_flag(py::handle flag, py::handle value) {
    const std::size_t index =
        supervisor_.flag(setting<std::string>("flag", flag, "the name of a flag"));
    supervisor_.set_flag(index, setting<bool>("value", value, "True or False")).value();
  }

  void set_sensor(py::handle name, py::handle values, py::handle age) {
    python::set_sensor(supervisor_, name, values, age);
  }

  /// Runs a tick while holding the interpreter lock, which keeps other threads out.
  std::string update() {
    const Hold hold(busy_, kSupervisor);
    clock_->advance();
    const ControllerState state = supervisor_.update();
    clock_->rethrow();
    return name_of_state(state);
  }

  std::vector<double> actuator(py::handle name) { return read_actuator(supervisor_, name); }

  std::vector<std::string> policies() const {
    std::vector<std::string> names;
    for (const SupervisedPolicy& policy : supervisor_.supervision().policies) {
      names.push_back(policy.name);
    }
    return names;
  }

  std::string active() const {
    return supervisor_.supervision().policies[supervisor_.active()].name;
  }

  py::dict switch_counts() const {
    py::dict result;
    for (std::size_t i = 0; i < kSwitchEvents; ++i) {
      result[py::str(std::string(name_of(static_cast<SwitchEvent>(i))))] =
          supervisor_.switch_counts()[i];
    }
    return result;
  }

  py::list switches() const {
    py::list result;
    for (const SwitchRecord& one : supervisor_.switches()) {
      result.append(py::make_tuple(one.tick, std::string(name_of(one.event)),
                                   supervisor_.supervision().policies[one.policy].name, one.rule));
    }
    return result;
  }

  py::dict counts(py::handle policy) const {
    return counts_of(supervisor_.counts(index_of(policy)));
  }

  py::list interventions(py::handle policy) const {
    return list_of(supervisor_.interventions(index_of(policy)));
  }

  std::string failure(py::handle policy) const {
    return std::string(supervisor_.failure(index_of(policy)));
  }

  std::size_t index_of(py::handle policy) const {
    return supervisor_.policy(setting<std::string>("policy", policy, "the name of a policy"));
  }

  /// Stops, and waits for the worker, which may log in Python.
  void end() {
    const py::gil_scoped_release release;
    supervisor_.stop();
  }

  std::unique_ptr<PythonClock> clock_;  // used by the supervisor
  std::atomic<bool> busy_{false};       // true during start(), stop() or update()
  Supervisor supervisor_;
};

void bind_properties(py::class_<PySupervisor>& supervisor) {
  supervisor.def_property_readonly(
      "policies", &PySupervisor::policies,
      "The names of the policies; the first one is active after ``start()``.");
  supervisor.def_property_readonly("active", &PySupervisor::active,
                                   "The policy that was active in the last ``update()``.");
  supervisor.def_property_readonly(
      "is_emergency_stopped",
      [](const PySupervisor& self) { return self.supervisor_.is_emergency_stopped(); },
      "Whether the last ``update()`` was in an emergency stop.");
  supervisor.def_property_readonly(
      "sensors",
      [](const PySupervisor& self) { return elements_of(self.supervisor_.robot().sensors); },
      "The robot's sensors, with the names of their elements, in order.");
  supervisor.def_property_readonly(
      "actuators",
      [](const PySupervisor& self) { return elements_of(self.supervisor_.robot().actuators); },
      "The robot's actuators, with the names of their elements, in order.");
  supervisor.def_property_readonly(
      "ticks", [](const PySupervisor& self) { return self.supervisor_.ticks(); },
      "Ticks of the loop since ``start()``.");
  supervisor.def_property_readonly(
      "dropped", [](const PySupervisor& self) { return self.supervisor_.dropped(); },
      "Number of values that the recording lost.");
}

void bind_calls(py::class_<PySupervisor>& supervisor) {
  supervisor.def("request", &PySupervisor::request, py::arg("policy"),
                 "Request a policy; the next ``update()`` switches to it or refuses.");
  supervisor.def("set_flag", &PySupervisor::set_flag, py::arg("flag"), py::arg("value") = true,
                 "Set a flag for conditions; it keeps its value until it is set again.");
  supervisor.def(
      "emergency_stop", [](PySupervisor& self) { self.supervisor_.emergency_stop(); },
      "Stop in the next ``update()``, and stay stopped.");
  supervisor.def(
      "clear_emergency_stop", [](PySupervisor& self) { self.supervisor_.clear_emergency_stop(); },
      "End an emergency stop; the robot stays stopped until ``request()``.");
}

}  // namespace

void bind_supervisor(py::module_& module) {
  py::class_<PySupervisor> supervisor(module, "Supervisor");
  supervisor.def(py::init<py::handle, py::handle, const py::dict&>(), py::arg("supervision"),
                 py::arg("robot"), py::arg("settings"));
  bind_properties(supervisor);
  bind_calls(supervisor);
  supervisor.def("start", &PySupervisor::start,
                 "Make the first policy active and reset everything else, except flags and an "
                 "emergency stop.");
  supervisor.def("stop", &PySupervisor::stop,
                 "Stop: ``update()`` sends nothing until ``start()``.");
  supervisor.def(
      "set_sensor", &PySupervisor::set_sensor, py::arg("name"), py::arg("values"),
      py::arg("age") = 0.0,
      "Set the values that a sensor measured ``age`` seconds ago, in the order of its elements.");
  supervisor.def("update", &PySupervisor::update,
                 "Run one tick of the loop, and return the state of the active policy.");
  supervisor.def("actuator", &PySupervisor::actuator, py::arg("name"),
                 "Return the values of an actuator, in the order of its elements.");
  supervisor.def("switch_counts", &PySupervisor::switch_counts,
                 "Return the number of decisions since ``start()``, by event.");
  supervisor.def("counts", &PySupervisor::counts, py::arg("policy"),
                 "Return the number of interventions for a policy, by cause.");
  supervisor.def("failure", &PySupervisor::failure, py::arg("policy"),
                 "Return the error of the last failed tick of a policy, or an empty string.");
  supervisor.def("_switches", &PySupervisor::switches);
  supervisor.def("_interventions", &PySupervisor::interventions, py::arg("policy"));
}

}  // namespace leapp::python
