// Shadow runs.
#include <torch/csrc/utils/pybind.h>

#include <filesystem>
#include <string>

#include "leapp/trace/shadow.h"
#include "trace_bind.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

std::unique_ptr<Shadow> begin(const std::string& yaml, double rtol, double atol, bool trust_code,
                              bool allow_outside_files) {
  ShadowOptions options;
  options.tolerance = {rtol, atol};
  options.bundle.trust = trust_code ? Trust::kCode : Trust::kData;
  options.bundle.allow_outside_files = allow_outside_files;
  return unlocked([&] { return std::make_unique<Shadow>(yaml, options); });
}

}  // namespace

void bind_shadow(py::module_& module) {
  py::class_<Shadow>(module, "Shadow")
      .def(py::init(&begin), py::arg("yaml"), py::arg("rtol"), py::arg("atol"),
           py::arg("trust_code"), py::arg("allow_outside_files"))
      .def("reset", [](Shadow& self) { unlocked([&] { self.reset(); }); })
      .def("stop", [](Shadow& self) { unlocked([&] { self.stop(); }); })
      .def("report", [](const Shadow& self) {
        const ShadowReport report = unlocked([&] { return self.report(); });
        return py::make_tuple(to_json(report), to_string(report));
      });
}

}  // namespace leapp::python
