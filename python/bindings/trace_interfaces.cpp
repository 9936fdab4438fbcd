#include "trace_interfaces.h"

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
#include "leapp/dtype.h"
#include "python_values.h"
#include "session/external_backend.h"
#include "session/front_end.h"
#include "session/front_end_interface.h"
#include "trace_bind.h"
#include "trace_held_arrays.h"
#include "trace_program.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

class PythonFrontEnd final : public session::FrontEnd {
 public:
  void pass_opened(const std::string& /*node*/, int pass, bool alone) override {
    const py::gil_scoped_acquire acquire;
    if (pass == 1) py::module_::import("leapp._holders").attr("note")(frames_.unseen());
    if (alone) py::module_::import("leapp._numpy").attr("opened")();
  }

  std::vector<session::ForeignArray> pass_closing(const std::string& node, bool alone) override {
    const py::gil_scoped_acquire acquire;
    const py::tuple found = py::module_::import("leapp._numpy").attr("closing")(alone);
    std::vector<session::ForeignArray> arrays;
    if (found[0].is_none()) return arrays;
    const auto& held = found[0].cast<const HeldArrays&>();
    for (const auto& [array, tensor] :
         found[1].cast<std::vector<std::pair<py::array, at::Tensor>>>()) {
      if (held.verdict_on(array) == HeldArrays::Verdict::kChanged) {
        arrays.push_back({tensor, true, found[2].cast<std::string>()});
      }
    }
    for (const at::Tensor& tensor : unlocked([&] { return front_end::unwritten_tensors(node); })) {
      if (held.verdict_on(tensor) == HeldArrays::Verdict::kChanged) {
        arrays.push_back({tensor, true, found[2].cast<std::string>()});
      }
    }
    return arrays;
  }

  bool keeps(const std::vector<std::vector<at::Tensor>>& sources) override {
    const py::gil_scoped_acquire acquire;
    const py::object holders = py::module_::import("leapp._holders");
    return holders.attr("keeps")(Frames().unseen(), sources).cast<bool>();
  }

  // Forgets the frames of the previous session; returns those of the program.
  py::list begin() {
    frames_ = Frames();
    return frames_.unseen();
  }

  // Exceptions of operators reach Python through libtorch, which passes on this type and
  // RuntimeError.
  void rethrow(const Error& error) override {
    const py::gil_scoped_acquire acquire;
    translate(std::make_exception_ptr(error));
    python_error carried;
    carried.persist();
    throw carried;
  }

  session::TensorNames tensor_names() override {
    const py::gil_scoped_acquire acquire;
    const py::dict found = py::module_::import("leapp._holders").attr("tensor_names")();
    session::TensorNames names;
    names.reserve(found.size());
    for (const auto& [address, known] : found) {
      const auto [name, path] = known.cast<std::pair<std::string, std::string>>();
      names.emplace(reinterpret_cast<const void*>(address.cast<std::uintptr_t>()),
                    session::TensorName{name, path});
    }
    return names;
  }

  std::vector<session::HeldTensor> held_tensors() override {
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
      const std::vector<session::NumberRead>& reads) override {
    const py::gil_scoped_acquire acquire;
    py::list entries;
    for (const session::NumberRead& read : reads) {
      // The code object is never released after it was captured, see trace_frames.cpp.
      const bool known = read.where.code != nullptr && read.where.position >= 0;
      auto* code = static_cast<PyObject*>(const_cast<void*>(read.where.code));
      entries.append(py::make_tuple(known ? py::reinterpret_borrow<py::object>(code) : py::none(),
                                    read.where.position, read.op, read.argument, read.values,
                                    read.is_default, read.made_here));
    }
    return py::module_::import("leapp._numbers")
        .attr("judge")(entries)
        .cast<std::vector<std::optional<std::string>>>();
  }

  std::map<std::string, at::Tensor> rerun(
      const std::string& node, const std::map<std::string, at::Tensor>& inputs) override {
    const py::gil_scoped_acquire acquire;
    return py::module_::import("leapp._rerun")
        .attr("call")(node, inputs)
        .cast<std::map<std::string, at::Tensor>>();
  }

 private:
  Frames frames_;
};

class PythonBackend final : public session::ExternalBackend {
 public:
  std::string missing_package(const std::string& backend) override {
    const py::gil_scoped_acquire acquire;
    return py::module_::import("leapp._bridge").attr("missing")(backend).cast<std::string>();
  }

  void write(const session::ExternalExport& node) override {
    using Input = std::tuple<std::string, std::string, Shape, std::string>;
    std::vector<Input> inputs;
    for (const ir::ValueId id : node.graph.inputs()) {
      const ir::Value& value = node.graph.value(id);
      inputs.emplace_back(value.name, std::string(name_of(value.type.dtype)), value.type.shape,
                          value.type.device);
    }
    std::vector<std::string> outputs;
    for (const ir::Graph::Output& output : node.graph.outputs()) outputs.push_back(output.name);
    const py::gil_scoped_acquire acquire;
    py::module_::import("leapp._bridge")
        .attr("export")(node.backend, node.script.string(), inputs, outputs, node.file.string(),
                        to_python({node.params}));
  }

  std::vector<at::Tensor> run(const std::filesystem::path& file,
                              const std::vector<at::Tensor>& inputs) override {
    const py::gil_scoped_acquire acquire;
    return py::module_::import("leapp._bridge")
        .attr("replay")(file.string(), inputs)
        .cast<std::vector<at::Tensor>>();
  }
};

PythonFrontEnd& the_front_end() {
  static PythonFrontEnd front_end;
  return front_end;
}

}  // namespace

session::FrontEnd& python_front_end() {
  return the_front_end();
}

py::list begin_frames() {
  return the_front_end().begin();
}

session::ExternalBackend& python_backend() {
  static PythonBackend backend;
  return backend;
}

}  // namespace leapp::python
