// leapp._tools: importing policies and replaying recordings, for Python. Needs no torch.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "error_translation.h"
#include "leapp/tools/import.h"
#include "leapp/tools/replay.h"
#include "setting.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

using ImportSettings = std::vector<std::pair<std::string, std::string>>;

// Returns the path of the YAML file, the format and the notes.
py::tuple import_policy(py::handle model, py::handle target, py::handle deploy,
                        py::handle settings) {
  const auto from = setting<std::filesystem::path>("model", model, "the path of an ONNX file");
  const auto to = setting<std::filesystem::path>("target", target, "the path of a directory");
  const ImportOptions options = {
      setting_or<std::filesystem::path>({}, "deploy", deploy, "the path of a description"),
      setting<ImportSettings>("settings", settings, "strings by name")};
  ImportedPolicy policy;
  {
    const py::gil_scoped_release release;
    policy = import_onnx(from, to, options);
  }
  return py::make_tuple(policy.bundle.file, policy.format, policy.notes);
}

py::object replay_to_python(py::handle recording, py::handle bundle, py::handle rtol,
                            py::handle atol, py::handle policy) {
  const auto recorded = setting<std::filesystem::path>("recording", recording, "a path");
  const auto yaml = setting<std::filesystem::path>("bundle", bundle, "the path of a .yaml file");
  const ReplayOptions options = {
      .runtime = {},
      .tolerance = {setting<double>("rtol", rtol, "a number"),
                    setting<double>("atol", atol, "a number")},
      .policy = setting<std::string>("policy", policy, "the name of a policy, or empty")};
  const ReplayReport report = [&] {
    const py::gil_scoped_release release;
    return replay(recorded, yaml, options);
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

}  // namespace
}  // namespace leapp::python

PYBIND11_MODULE(_tools, module) {
  py::register_local_exception_translator(leapp::python::translate);
  module.def("import_onnx", &leapp::python::import_policy, py::arg("model"), py::arg("target"),
             py::arg("deploy"), py::arg("settings"));
  module.def("replay", &leapp::python::replay_to_python, py::arg("recording"), py::arg("bundle"),
             py::arg("rtol"), py::arg("atol"), py::arg("policy"));
}
