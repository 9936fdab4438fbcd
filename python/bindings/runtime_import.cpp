#include "runtime_import.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "leapp/import.h"

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

}  // namespace

void bind_import(py::module_& module) {
  module.def("import_onnx", &import_policy, py::arg("model"), py::arg("target"), py::arg("deploy"),
             py::arg("settings"));
}

}  // namespace leapp::python
