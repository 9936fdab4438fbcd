#include "runtime_engine.h"

#include <pybind11/stl.h>

#include <memory>
#include <utility>
#include <vector>

#include "python_values.h"

namespace leapp::python {
namespace {

namespace py = pybind11;

// Returns (memory, dtype, shape). The memory is writable even if it is only read, because torch
// accepts no other memory.
py::tuple describe(const void* data, DType dtype, const Shape& shape, std::size_t bytes) {
  static char nothing = 0;
  void* memory = bytes != 0 ? const_cast<void*>(data) : &nothing;
  return py::make_tuple(py::memoryview::from_memory(memory, static_cast<py::ssize_t>(bytes)),
                        name_of(dtype), shape);
}

class PythonBinding final : public Binding {
 public:
  PythonBinding(Kept engine, const Model& model, std::span<const ConstTensorView> inputs,
                std::span<const TensorView> outputs)
      : engine_(std::move(engine)),
        node_(model.name),
        inputs_(inputs.begin(), inputs.end()),
        outputs_(outputs.begin(), outputs.end()) {
    bind();
  }

  void rebind_input(std::size_t index, const ConstTensorView& view) override {
    inputs_.at(index) = view;
    const py::gil_scoped_acquire lock;
    bind();
  }

  void rebind_output(std::size_t index, const TensorView& view) override {
    outputs_.at(index) = view;
    const py::gil_scoped_acquire lock;
    bind();
  }

  Result<void> run() noexcept override {
    const py::gil_scoped_acquire lock;
    try {
      (*run_)();
      return {};
    } catch (const std::exception& error) {
      return Failure(Code::kTickFailed, {"node '", node_, "' failed: ", error.what()});
    }
  }

 private:
  // Called with the interpreter lock held.
  void bind() {
    py::list inputs;
    for (const ConstTensorView& view : inputs_) {
      // Torch requires writable memory even for reading; models do not change their inputs.
      inputs.append(describe(view.data, view.dtype, view.shape, view.byte_size()));
    }
    py::list outputs;
    for (const TensorView& view : outputs_) {
      outputs.append(describe(view.data, view.dtype, view.shape, view.byte_size()));
    }
    run_ = keep(engine_->attr("bind")(inputs, outputs));
  }

  Kept engine_;
  std::string node_;
  std::vector<ConstTensorView> inputs_;
  std::vector<TensorView> outputs_;
  Kept run_;
};

class PythonEngine final : public Engine {
 public:
  PythonEngine(py::object engine, Model model)
      : engine_(keep(std::move(engine))), model_(std::move(model)) {}

  std::string description() const override {
    const py::gil_scoped_acquire lock;
    return py::str(*engine_).cast<std::string>();
  }

  std::unique_ptr<Binding> bind(std::span<const ConstTensorView> inputs,
                                std::span<const TensorView> outputs) override {
    check_views(model_, inputs, outputs);
    const py::gil_scoped_acquire lock;
    return std::make_unique<PythonBinding>(engine_, model_, inputs, outputs);
  }

 private:
  Kept engine_;
  Model model_;
};

}  // namespace

EngineFactory python_engine(py::object load) {
  const Kept kept = keep(std::move(load));
  return [kept](const Model& model, const ModelFile& file,
                const EngineOptions&) -> std::unique_ptr<Engine> {
    const py::gil_scoped_acquire lock;
    const py::bytes bytes(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
    return std::make_unique<PythonEngine>(
        (*kept)(model.name, file.path.string(), bytes, file.trust == Trust::kCode), model);
  };
}

void import_torch_for_torchscript(EngineRegistry& engines) {
  const EngineRegistry standard = engines;
  const auto load = [standard](const Model& model, const ModelFile& file,
                               const EngineOptions& options) {
    {
      const py::gil_scoped_acquire lock;
      try {
        py::module_::import("torch");
      } catch (const py::error_already_set& error) {
        throw Error(Code::kMissingPackage,
                    "node '" + model.name +
                        "' is a TorchScript model, which needs PyTorch ('pip "
                        "install torch'): " +
                        std::string(py::str(error.value())));
      }
    }
    return standard.load(model, file, options);
  };
  // Nodes are merged after each was loaded by itself, so torch is already imported.
  const auto load_merged = [standard](const Bundle& part, const std::vector<LoadedNode>& nodes,
                                      const Model& signature, const EngineOptions& options) {
    return standard.load_merged(part, nodes, signature, options);
  };
  engines.add("jit", load, load_merged);
}

}  // namespace leapp::python
