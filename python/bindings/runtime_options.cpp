#include "runtime_options.h"

#include <pybind11/stl.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "leapp/error.h"
#include "python_values.h"
#include "setting.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

// Returns a dict of settings for any mapping.
py::dict mapping(const std::string& name, py::handle value, const char* expected) {
  if (!py::isinstance(value, py::module_::import("collections.abc").attr("Mapping"))) {
    wrong_setting(name, value, expected);
  }
  return py::dict(py::reinterpret_borrow<py::object>(value));
}

EngineOptions engine_options(const py::dict& settings) {
  EngineOptions options;
  for (const auto& [key, value] : settings) {
    const auto name = setting<std::string>("a key of engine options", key, "a string");
    if (name == "threads") {
      options.threads = setting<int>(name, value, "a whole number");
    } else if (name == "affinity") {
      options.affinity = setting<std::vector<int>>(name, value, "a list of processors");
    } else if (name == "spinning") {
      options.spinning = setting<bool>(name, value, "True or False");
    } else if (name == "provider") {
      options.provider = setting<std::string>(name, value, "the name of a provider");
    } else if (name == "translate") {
      options.translate = setting<bool>(name, value, "True or False");
    } else {
      throw Error(Code::kRuntimeOptions,
                  "there is no engine option '" + name +
                      "'; there are: threads, affinity, spinning, provider, translate");
    }
  }
  return options;
}

// Returns the values to guard against NaN: all, none, or the named ones.
FiniteGuard finite_guard(const py::object& given) {
  if (py::isinstance<py::bool_>(given)) {
    const bool all = given.cast<bool>();
    return {all, all, all};
  }
  FiniteGuard guard;
  for (const auto& kind :
       setting<std::vector<std::string>>("check_finite", given, "True, False or a list of kinds")) {
    if (kind == "inputs") {
      guard.inputs = true;
    } else if (kind == "state") {
      guard.state = true;
    } else if (kind == "outputs") {
      guard.outputs = true;
    } else {
      throw Error(Code::kWrongValue,
                  "check_finite accepts inputs, state and outputs, not '" + kind + "'");
    }
  }
  return guard;
}

// Returns a Python function as a callback for threads that do not hold the interpreter lock.
std::function<void(const DeadlineMiss&)> deadline_callback(py::object callable) {
  if (callable.is_none()) return {};
  return [kept = keep(std::move(callable))](const DeadlineMiss& miss) {
    const py::gil_scoped_acquire lock;
    try {
      (*kept)(miss.tick, to_seconds(miss.took), to_seconds(miss.deadline));
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("LEAPP's deadline callback");
    }
  };
}

}  // namespace

RuntimeOptions model_options(const py::dict& settings) {
  RuntimeOptions options;
  options.engine = engine_options(settings["engine"]);
  options.bundle.trust = settings["trust"].is_none() ? Trust::kData : Trust::kCode;
  options.bundle.allow_native =
      setting<bool>("allow_native", settings["allow_native"], "True or False");
  options.noise_seed =
      setting<std::uint64_t>("noise_seed", settings["noise_seed"], "a whole number");
  return options;
}

RuntimeOptions runtime_options(const py::dict& settings) {
  RuntimeOptions options = model_options(settings);
  for (const auto& [node, values] :
       mapping("nodes", settings["nodes"], "a dict of options by node name")) {
    const auto name = setting<std::string>("a key of nodes", node, "the name of a node");
    options.nodes[name] = engine_options(mapping("nodes['" + name + "']", values, "a dict"));
  }
  options.merge =
      setting<bool>("merge", settings["merge"], "True or False") ? Merge::kAuto : Merge::kOff;
  options.finite = finite_guard(settings["check_finite"]);
  for (const auto& [port, limit] :
       mapping("staleness", settings["staleness"], "a dict of seconds by 'node/port'")) {
    options.staleness[setting<std::string>("a key of staleness", port, "'node/port'")] =
        from_seconds(setting<double>("staleness", limit, "a number of seconds"));
  }
  if (!settings["deadline"].is_none()) {
    options.deadline =
        from_seconds(setting<double>("deadline", settings["deadline"], "a number of seconds"));
  }
  const py::object callback = settings["on_deadline_miss"];
  if (!callback.is_none() && PyCallable_Check(callback.ptr()) == 0) {
    wrong_setting("on_deadline_miss", callback, "a function of (tick, seconds taken, deadline)");
  }
  options.on_deadline_miss = deadline_callback(callback);
  options.measure = setting<bool>("measure", settings["measure"], "True or False");
  options.bundle.allow_outside_files =
      setting<bool>("allow_outside_files", settings["allow_outside_files"], "True or False");
  options.bundle.max_tensor_bytes =
      setting<std::uint64_t>("max_tensor_bytes", settings["max_tensor_bytes"], "a number of bytes");
  return options;
}

}  // namespace leapp::python
