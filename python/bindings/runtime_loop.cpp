#include "runtime_loop.h"

namespace py = pybind11;

namespace leapp::python {

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

namespace {

std::chrono::nanoseconds duration(const char* name, py::handle value) {
  constexpr double kMost = 1e9;  // 30 years, a number of nanoseconds that fits 64 bits
  const auto seconds = setting<double>(name, value, "a number of seconds");
  if (!(seconds >= 0 && seconds <= kMost)) {
    throw Error(Code::kControllerOptions, std::string(name) + " is " +
                                              std::string(py::repr(value)) +
                                              "; it must be a number of seconds from 0 to 1e9");
  }
  return from_seconds(seconds);
}

}  // namespace

ControllerOptions controller_options(const py::dict& settings, PythonClock& clock) {
  ControllerOptions options;
  options.runtime = model_options(settings);
  const py::object frequency = settings["frequency"];
  if (!frequency.is_none())
    options.frequency = setting<double>("frequency", frequency, "a rate in Hz");
  if (settings["linear"].cast<bool>()) options.interpolation = Interpolation::kLinear;
  if (setting<bool>("worker", settings["worker"], "True or False")) {
    options.execution = Execution::kWorker;
  }
  if (!settings["deadline"].is_none())
    options.deadline = duration("deadline", settings["deadline"]);
  options.blend_in = duration("blend_in", settings["blend_in"]);
  if (clock.is_given()) options.clock = [&clock] { return clock.read(); };
  options.recording =
      setting_or<std::filesystem::path>({}, "recording", settings["recording"], "a path");
  return options;
}

py::dict elements_of(const std::vector<Signal>& signals) {
  py::dict result;
  for (const Signal& signal : signals) result[py::str(signal.name)] = signal.elements;
  return result;
}

py::dict counts_of(const std::array<std::uint64_t, kCauses>& counts) {
  py::dict result;
  for (std::size_t i = 0; i < kCauses; ++i) {
    result[py::str(std::string(name_of(static_cast<Cause>(i))))] = counts[i];
  }
  return result;
}

py::list list_of(const std::vector<Intervention>& interventions) {
  py::list result;
  for (const Intervention& one : interventions) {
    result.append(py::make_tuple(one.tick, std::string(name_of(one.cause)), std::string(one.port)));
  }
  return result;
}

}  // namespace leapp::python
