// leapp._tools: importing policies and replaying recordings, for Python. Needs no torch.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "error_translation.h"
#include "leapp/tools/import.h"
#include "leapp/tools/replay.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

using ImportSettings = std::vector<std::pair<std::string, std::string>>;

// The YAML that was written, the format, and the notes.
py::tuple import_policy(const std::filesystem::path& model, const std::filesystem::path& target,
                        const std::filesystem::path& deploy, const ImportSettings& settings) {
  ImportedPolicy policy;
  {
    const py::gil_scoped_release release;
    policy = import_onnx(model, target, {deploy, settings});
  }
  return py::make_tuple(policy.bundle.file, policy.format, policy.notes);
}

py::object replay_to_python(const std::filesystem::path& recording,
                            const std::filesystem::path& bundle, double rtol, double atol,
                            const std::string& policy) {
  const ReplayReport report = [&] {
    const py::gil_scoped_release release;
    return replay(recording, bundle, {.runtime = {}, .tolerance = {rtol, atol}, .policy = policy});
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
