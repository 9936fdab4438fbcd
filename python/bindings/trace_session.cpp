// The life of a session: start, stop, compile_graph, and its diagnostics.
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "compile/compiler.h"
#include "compile/preparation.h"
#include "compile/varied_example.h"
#include "leapp/leapp.h"
#include "session/front_end.h"
#include "session/warm_up.h"
#include "trace_bind.h"
#include "trace_convert.h"
#include "trace_interfaces.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

void start_session(std::string name, std::string save_path, bool verbose, bool dry_run,
                   std::vector<std::string> non_traced, int max_cached_io,
                   const std::vector<ScheduleTuple>& schedule, const std::string& noise) {
  StartOptions options{.name = std::move(name),
                       .save_path = std::move(save_path),
                       .verbose = verbose,
                       .dry_run = dry_run,
                       .non_traced = std::move(non_traced),
                       .max_cached_io = max_cached_io};
  for (const ScheduleTuple& entry : schedule) options.schedule.push_back(to_schedule(entry));
  options.noise = noise == "port"     ? Noise::kPort
                  : noise == "zero"   ? Noise::kZero
                  : noise == "frozen" ? Noise::kFrozen
                                      : Noise::kModel;
  unlocked([&] { session::start(options, &python_front_end()); });
}

using Configs = std::tuple<std::optional<double>, py::dict>;

// Returns (node, passed, error) for each node, the text of validation.json, and the schedule as
// text.
py::tuple compile_session(bool visualize, std::optional<bool> verbose, bool validate, bool dry_run,
                          double rtol, double atol, bool strict,
                          const std::optional<Configs>& graph_configs, int golden, bool thorough,
                          bool strict_constants, std::vector<std::string> rerun,
                          const py::object& progress, const py::function& cancelled) {
  CompileOptions options;
  options.visualize = visualize;
  options.verbose = verbose;
  options.validate = validate;
  options.dry_run = dry_run;
  options.tolerance = {rtol, atol};
  options.strict = strict;
  options.golden = golden;
  options.thorough = thorough;
  options.strict_constants = strict_constants;
  options.rerun = std::move(rerun);
  const py::module_ torch = py::module_::import("torch");
  options.python_version =
      py::module_::import("platform").attr("python_version")().cast<std::string>();
  options.torch_version = std::string(py::str(torch.attr("__version__")));
  options.cuda_version = torch.attr("version").attr("cuda").cast<std::optional<std::string>>();
  if (graph_configs) {
    const auto& [frequency, extra] = *graph_configs;
    options.graph_configs = GraphConfigs{frequency, to_metadata(extra, "GraphConfigs extra")};
  }
  if (!progress.is_none()) {
    options.progress = [&progress](std::size_t done, std::size_t total, const std::string& node) {
      const py::gil_scoped_acquire acquire;
      progress(done, total, node);
    };
  }
  options.cancelled = [&cancelled] {
    const py::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    return cancelled().cast<bool>();
  };
  const compile::CompileReport report =
      unlocked([&] { return compile::compile_graph(options, &python_backend()); });
  py::list outcomes;
  for (const NodeOutcome& node : report.outcomes) {
    outcomes.append(py::make_tuple(node.node, node.passed, node.error));
  }
  return py::make_tuple(outcomes, report.validation, report.schedule);
}

/// Returns the code for "LP214".
Code parse_code(const std::string& text) {
  demand(text.size() == 5 && text.starts_with("LP"), "a code of a diagnostic");
  return static_cast<Code>(std::stoi(text.substr(2)));
}

void diagnose(const std::string& code, std::string text, std::string node,
              bool settled_by_another_pass, std::string where, bool aloud) {
  Diagnostic diagnostic{.code = parse_code(code),
                        .level = aloud ? LogLevel::kWarning : LogLevel::kDebug,
                        .where = std::move(where),
                        .node = std::move(node),
                        .text = std::move(text),
                        .settled_by_another_pass = settled_by_another_pass};
  unlocked([&] { front_end::diagnose(std::move(diagnostic)); });
}

py::list inventory_of_session() {
  py::list nodes;
  for (const NodeInventory& node : inventory()) {
    py::list weights;
    for (const ExportedWeights& each : node.weights) {
      weights.append(
          py::make_tuple(each.module, each.parameters, each.buffers, each.values, to_string(each)));
    }
    py::list constants;
    for (const ExportedConstant& each : node.constants) {
      const bool is_tensor = each.kind == ExportedConstant::Kind::kTensor;
      constants.append(py::make_tuple(
          is_tensor ? "tensor" : "number", each.path, each.where, each.op,
          std::string(name_of(each.dtype)),
          is_tensor ? py::object(py::tuple(py::cast(each.shape))) : py::object(py::none()),
          each.min, each.max, each.has_nan, each.acknowledged, to_string(each)));
    }
    nodes.append(py::make_tuple(node.node, weights, constants));
  }
  return nodes;
}

py::list diagnostics() {
  py::list found;
  for (const Diagnostic& each : leapp::diagnostics()) {
    found.append(py::make_tuple(to_string(each.code), std::string(name_of(each.level)), each.where,
                                each.node, each.text, each.settled_by_another_pass));
  }
  return found;
}

// Called by every annotation.
PyObject* is_active_now(PyObject*, PyObject*) {
  return PyBool_FromLong(is_active());
}

PyMethodDef functions[] = {
    {"is_active", is_active_now, METH_NOARGS, "Return whether a session is tracing now."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void bind_session(py::module_& module) {
  add_functions(module, functions);
  module.def("start", &start_session, py::arg("name"), py::arg("save_path"), py::arg("verbose"),
             py::arg("dry_run"), py::arg("non_traced"), py::arg("max_cached_io"),
             py::arg("schedule"), py::arg("noise"));
  module.def("prepare", &compile::prepare);
  module.def("warm_up", unlocked_call(&session::warm_up));
  module.def("stop", unlocked_call(&stop));
  module.def("drop", unlocked_call(&drop));
  module.def("compile_graph", &compile_session, py::arg("visualize"), py::arg("verbose"),
             py::arg("validate"), py::arg("dry_run"), py::arg("rtol"), py::arg("atol"),
             py::arg("strict"), py::arg("graph_configs"), py::arg("golden"), py::arg("thorough"),
             py::arg("strict_constants"), py::arg("rerun"), py::arg("progress"),
             py::arg("cancelled"));
  module.def("varied_example", unlocked_call(&compile::varied_example));
  module.def("inventory", &inventory_of_session);
  module.def("diagnose", &diagnose, py::arg("code"), py::arg("text"), py::arg("node") = "",
             py::arg("settled_by_another_pass") = false, py::arg("where") = "",
             py::arg("aloud") = true);
  module.def("diagnostics", &diagnostics);
}

}  // namespace leapp::python
