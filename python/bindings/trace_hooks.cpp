#include "trace_hooks.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "error_translation.h"
#include "export/torchscript/exporter_ops.h"
#include "export/torchscript/torchscript.h"
#include "leapp/dtype.h"
#include "python_values.h"
#include "session/hooks.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

session::TensorNames tensor_names() {
  const py::gil_scoped_acquire acquire;
  const py::dict found = py::module_::import("leapp._names").attr("tensor_names")();
  session::TensorNames names;
  names.reserve(found.size());
  for (const auto& [address, known] : found) {
    const auto [name, path] = known.cast<std::pair<std::string, std::string>>();
    names.emplace(reinterpret_cast<const void*>(address.cast<std::uintptr_t>()),
                  session::TensorName{name, path});
  }
  return names;
}

std::vector<session::HeldTensor> held_tensors() {
  using Entry = std::tuple<std::uintptr_t, std::size_t, std::string, int, std::string>;
  const py::gil_scoped_acquire acquire;
  std::vector<session::HeldTensor> held;
  const py::object found = py::module_::import("leapp._holders").attr("held_tensors")();
  for (auto& [address, bytes, path, kind, module] : found.cast<std::vector<Entry>>()) {
    held.push_back({reinterpret_cast<const std::byte*>(address), bytes, std::move(path),
                    static_cast<session::HeldTensor::Kind>(kind), std::move(module)});
  }
  return held;
}

std::vector<std::optional<std::string>> judge_numbers(
    const std::vector<session::NumberRead>& reads) {
  const py::gil_scoped_acquire acquire;
  py::list entries;
  for (const session::NumberRead& read : reads) {
    // Held for good by whoever captured it, see trace_frames.cpp.
    const bool known = read.where.code != nullptr && read.where.position >= 0;
    const py::object code = known ? py::reinterpret_borrow<py::object>(
                                        static_cast<PyObject*>(const_cast<void*>(read.where.code)))
                                  : py::none();
    entries.append(py::make_tuple(code, read.where.position, read.op, read.argument, read.values,
                                  read.is_default, read.made_here));
  }
  return py::module_::import("leapp._numbers")
      .attr("judge")(entries)
      .cast<std::vector<std::optional<std::string>>>();
}

/// A function of leapp._detect, looked up once: passes of the user's control loop wait for it.
/// Never let go of: the interpreter may be gone by then.
py::handle function_of_detect(const char* name) {
  py::object function = py::module_::import("leapp._detect").attr(name);
  return function.release();
}

bool opened(const std::string& node, int pass) {
  const py::gil_scoped_acquire acquire;
  static const py::handle function = function_of_detect("opened");
  return function(node, pass).cast<bool>();
}
void closed(const std::string& node) {
  const py::gil_scoped_acquire acquire;
  function_of_detect("closed")(node);
}
bool keeps(const std::vector<at::Tensor>& outputs) {
  const py::gil_scoped_acquire acquire;
  return function_of_detect("keeps")(outputs).cast<bool>();
}
void stopping() {
  const py::gil_scoped_acquire acquire;
  function_of_detect("finish")();
}

void bridge(const std::string& backend, const ir::Graph& graph, const std::filesystem::path& file,
            const Metadata::Map& params) {
  // PyTorch's exporters read TorchScript, so that is what they get.
  const std::filesystem::path script = file.string() + ".script";
  torchscript::write(backend == "onnx-torchscript" ? torchscript::for_onnx_exporter(graph) : graph,
                     script, {});
  using Input = std::tuple<std::string, std::string, Shape, std::string>;
  std::vector<Input> inputs;
  for (const ir::ValueId id : graph.inputs()) {
    const ir::Value& value = graph.value(id);
    inputs.emplace_back(value.name, std::string(name_of(value.type.dtype)), value.type.shape,
                        value.type.device);
  }
  std::vector<std::string> outputs;
  for (const ir::Graph::Output& output : graph.outputs()) outputs.push_back(output.name);
  const py::gil_scoped_acquire acquire;
  py::module_::import("leapp._bridge")
      .attr("export")(backend, script.string(), inputs, outputs, file.string(),
                      to_python({params}));
  std::error_code ignored;
  std::filesystem::remove(script, ignored);
}

std::string missing(const std::string& backend) {
  const py::gil_scoped_acquire acquire;
  return py::module_::import("leapp._bridge").attr("missing")(backend).cast<std::string>();
}

std::vector<at::Tensor> replay(const std::filesystem::path& file,
                               const std::vector<at::Tensor>& inputs) {
  const py::gil_scoped_acquire acquire;
  return py::module_::import("leapp._bridge")
      .attr("replay")(file.string(), inputs)
      .cast<std::vector<at::Tensor>>();
}

std::map<std::string, at::Tensor> call_again(const std::string& node,
                                             const std::map<std::string, at::Tensor>& inputs) {
  const py::gil_scoped_acquire acquire;
  return py::module_::import("leapp._again")
      .attr("call")(node, inputs)
      .cast<std::map<std::string, at::Tensor>>();
}

// An operator's exceptions reach Python through libtorch, which knows this one and RuntimeError.
void rethrow(const Error& error) {
  const py::gil_scoped_acquire acquire;
  translate(std::make_exception_ptr(error));
  python_error carried;
  carried.persist();
  throw carried;
}

}  // namespace

void install_hooks() {
  session::hooks() = {.held_tensors = held_tensors,
                      .judge_numbers = judge_numbers,
                      .tensor_names = tensor_names,
                      .opened = opened,
                      .closed = closed,
                      .keeps = keeps,
                      .stopping = stopping,
                      .rethrow = rethrow,
                      .bridge = bridge,
                      .missing = missing,
                      .replay = replay,
                      .call_again = call_again};
}

void remove_hooks() {
  session::hooks() = {};
}

}  // namespace leapp::python
