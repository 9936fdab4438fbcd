#include "runtime_manager.h"

#include <pybind11/stl.h>

#include "runtime_py_manager.h"
#include "runtime_sections.h"
#include "setting.h"

namespace leapp::python {
namespace {

constexpr const char* kRunPolicyDoc = R"(Run every node once.

Args:
    inputs: A value for each of ``inputs``, by ``node/port``, except those that ``set_input_value``
        has set.

Returns:
    A new array for each of ``outputs``; it is the caller's to keep.)";

constexpr const char* kBindInputDoc =
    R"(Read an input from this array in every tick, without copying; None ends it.

The array must be contiguous, in host memory, of the port's type and shape.)";

constexpr const char* kStatisticsDoc =
    R"(Return latencies in seconds: ``tick``, ``nodes`` by name, and ``deadline_misses``.

All zero unless the manager was made with ``measure=True``.)";

constexpr const char* kTraceToDoc =
    "Write a timeline of the ticks from now on, for ui.perfetto.dev; None ends it.";

// Binds the methods that read and write values.
void bind_values(py::class_<PyManager>& manager) {
  manager.def("get_mock_input", &PyManager::mock_input, py::arg("seed") = 0,
              "Return mock values for ``inputs``: random numbers, ones for integers.");
  manager.def(
      "set_input_value", &PyManager::set_input_value, py::arg("node_name"), py::arg("input_name"),
      py::arg("value"),
      "Set an input: a feedback input for the next tick, an external one until it is set again.");
  manager.def(
      "reset", [](PyManager& self) { self.manager().reset(); },
      "Set every feedback input to its initial value, and start at tick 0; set other inputs "
      "again.");
  manager.def(
      "set_noise_seed",
      [](PyManager& self, py::handle seed) {
        const auto number = setting<std::uint64_t>("seed", seed, "a whole number");
        self.manager().set_noise_seed(number).value();
      },
      py::arg("seed"),
      "Set the seed of the noise ports from the next tick on; the number of the tick stays.");
  manager.def("state", &PyManager::state,
              "Return a copy of every feedback input, and of the position in a schedule or noise.");
  manager.def(
      "undo_tick", [](PyManager& self) { self.manager().undo_tick().value(); },
      "Undo the last tick: the next one reads the same state again. Outputs stay.");
  manager.def("output_age", &PyManager::output_age, py::arg("name"),
              "Return the number of ticks since the node of an output ran: 0 for the last tick, "
              "None if it has not run.");
  manager.def("set_state", &PyManager::set_state, py::arg("state"),
              "Restore a result of ``state()``.");
  manager.def(
      "prepare", &PyManager::prepare, py::arg("ticks") = 2,
      "Run ticks on mock input, so that engines allocate their memory; then restore the state.");
  manager.def("bind_input", &PyManager::bind_input, py::arg("name"), py::arg("array"),
              kBindInputDoc);
  manager.def("bind_output", &PyManager::bind_output, py::arg("name"), py::arg("array"),
              "Write an output into this array in every tick; None ends it.");
  manager.def(
      "tick", &PyManager::tick,
      "Run every node once on the current inputs, for callers that have bound their arrays.");
  manager.def("_value", &PyManager::value, py::arg("node"), py::arg("port"));
  manager.def("_load_node", &PyManager::load_node, py::arg("name"));
  manager.def("_zeros", &PyManager::zeros, py::arg("dtype"), py::arg("shape"));
}

// Binds the methods that describe the bundle.
void bind_sections(py::class_<PyManager>& manager) {
  manager.def_property_readonly(
      "inputs", [](PyManager& self) { return self.manager().inputs(); },
      "Names of the external inputs, by ``node/port``.");
  manager.def_property_readonly(
      "noise_inputs", [](PyManager& self) { return self.manager().noise_inputs(); },
      "Names of the inputs that the manager fills with random numbers unless they are given.");
  manager.def_property_readonly(
      "outputs", [](PyManager& self) { return self.manager().outputs(); },
      "Names of the outputs, by ``node/port``.");
  manager.def_property_readonly(
      "feedback_inputs", [](PyManager& self) { return self.manager().feedback_inputs(); },
      "Names of the inputs that come from the last tick.");
  manager.def_property_readonly(
      "device", [](PyManager& self) { return self.manager().device(); },
      "The device that holds the values: ``\"cpu\"``, or ``\"cuda:0\"`` if every node runs there.");
  manager.def_readonly("models", &PyManager::models, "That section of the YAML.");
  manager.def_readonly("pipeline", &PyManager::pipeline, "That section of the YAML.");
  manager.def_readonly("system_info", &PyManager::system_info, "That section of the YAML.");
  manager.def(
      "description", [](PyManager& self) { return self.manager().description(); },
      "Return one line per step: what runs where.");
  manager.def("statistics", &PyManager::statistics, kStatisticsDoc);
  manager.def("_verify", [](PyManager& self) { return verify(self.manager()); });
  manager.def(
      "reset_statistics", [](PyManager& self) { self.manager().reset_statistics(); },
      "Clear the latencies measured so far.");
  manager.def("trace_to", &PyManager::trace_to, py::arg("file"), kTraceToDoc);
}

}  // namespace

void bind_manager(py::module_& module) {
  py::class_<PyNode>(module, "NodeModel").def("__call__", &PyNode::run);
  py::class_<PyManager> manager(module, "Manager", "The base class of InferenceManager.");
  manager.def(py::init<py::handle, const py::dict&, py::object, const py::dict&>(), py::arg("yaml"),
              py::arg("settings"), py::arg("torch"), py::arg("engines"));
  for (const char* name : {"run_policy", "__call__"}) {
    manager.def(name, &PyManager::run, py::arg("inputs"), kRunPolicyDoc);
  }
  bind_values(manager);
  bind_sections(manager);
}

}  // namespace leapp::python
