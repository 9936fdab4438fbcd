// The TorchScript engine: a plugin, so that the runtime itself never needs libtorch.
//
// A model is frozen when it is loaded (its weights become constants of one flat graph) and then run
// by TorchScript's interpreter directly. The usual way, through the profiling executor, rewrites
// the graph during the first calls: the first ticks of a robot would be its slowest, for nothing on
// a CPU. Inputs are read where they lie; libtorch allocates each output, which is then copied to
// the buffer it is bound to.
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/passes/freeze_module.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/script.h>
#include <torch/version.h>

#include <cstring>
#include <string>

#include "leapp/engine.h"
#include "runtime/engines/torch/torch_dtype.h"

namespace leapp {
namespace {

namespace jit = torch::jit;

// libtorch's number of threads belongs to the process; whoever else uses it gets it back.
class ThreadsGuard {
 public:
  explicit ThreadsGuard(int threads) : former_(at::get_num_threads()) {
    changed_ = threads > 0 && threads != former_;
    if (changed_) at::set_num_threads(threads);
  }
  ~ThreadsGuard() {
    if (changed_) at::set_num_threads(former_);
  }
  ThreadsGuard(const ThreadsGuard&) = delete;
  ThreadsGuard& operator=(const ThreadsGuard&) = delete;

 private:
  int former_;
  bool changed_;
};

at::Tensor tensor_over(const void* data, DType dtype, const Shape& shape) {
  // from_blob takes no const; models that write to an input get a copy of it instead.
  return at::from_blob(const_cast<void*>(data), shape, at::TensorOptions(to_torch(dtype)));
}

std::string type_text(std::string_view dtype, const Shape& shape) {
  return std::string(dtype) + " " + to_string(shape);
}

std::string type_text(const at::Tensor& tensor) {
  const std::optional<DType> dtype = from_torch(tensor.scalar_type());
  return type_text(dtype ? name_of(*dtype) : c10::toString(tensor.scalar_type()),
                   Shape(tensor.sizes().begin(), tensor.sizes().end()));
}

// TorchScript prefixes a page of source to what went wrong; the cause stands last.
std::string_view cause(std::string_view message) {
  const std::size_t start = message.rfind("RuntimeError: ");
  if (start != std::string_view::npos) message.remove_prefix(start);
  while (message.ends_with('\n')) message.remove_suffix(1);
  return message;
}

class TorchEngine;

class TorchBinding final : public Binding {
 public:
  TorchBinding(TorchEngine& engine, std::span<const ConstTensorView> inputs,
               std::span<const TensorView> outputs);

  void rebind_input(std::size_t index, const ConstTensorView& view) override;
  void rebind_output(std::size_t index, const TensorView& view) override;
  Result<void> run() noexcept override;

 private:
  Result<void> take_output(std::size_t index, const at::Tensor& value);

  TorchEngine& engine_;
  std::vector<at::Tensor> inputs_;
  std::vector<at::Tensor> outputs_;
  jit::Stack stack_;  // kept, so that its memory is allocated once
};

class TorchEngine final : public Engine {
 public:
  TorchEngine(const Model& model, const std::filesystem::path& file, const EngineOptions& options)
      : model_(model), threads_(options.threads) {
    if (!options.provider.empty() && options.provider != "cpu") {
      throw Error(ErrorKind::kValue, "node '" + model_.name + "': the TorchScript engine has no '" +
                                         options.provider + "', only 'cpu'");
    }
    try {
      load(file);
    } catch (const c10::Error& error) {
      throw Error(ErrorKind::kValue,
                  "node '" + model_.name + "': " + file.string() +
                      " could not be loaded as TorchScript: " + error.what_without_backtrace());
    } catch (const jit::ErrorReport& error) {
      throw Error(ErrorKind::kValue, "node '" + model_.name + "': " + file.string() +
                                         " could not be loaded as TorchScript: " + error.what());
    }
  }

  std::string description() const override { return "TorchScript " TORCH_VERSION ", CPU"; }

  std::unique_ptr<Binding> bind(std::span<const ConstTensorView> inputs,
                                std::span<const TensorView> outputs) override {
    check_views(model_, inputs, outputs);
    return std::make_unique<TorchBinding>(*this, inputs, outputs);
  }

  const Model& model() const noexcept { return model_; }
  int threads() const noexcept { return threads_; }
  const jit::Code& code() const noexcept { return code_; }
  const c10::IValue& self() const noexcept { return self_; }
  bool writes_input(std::size_t index) const { return writes_input_[index]; }

 private:
  void load(const std::filesystem::path& file) {
    jit::Module module = jit::load(file.string(), at::Device(at::kCPU));
    module.eval();
    try {
      jit::freeze_module_inplace(&module);
    } catch (const std::exception&) {
      // Modules that write their own attributes cannot be frozen; they run as they are.
      module = jit::load(file.string(), at::Device(at::kCPU));
      module.eval();
    }
    const jit::Method forward = module.get_method("forward");
    const std::shared_ptr<jit::Graph> graph = forward.graph()->copy();
    jit::Inline(*graph);
    check_signature(*graph);
    jit::AliasDb aliases(graph);
    for (std::size_t i = 0; i < model_.inputs.size(); ++i) {
      writes_input_.push_back(aliases.hasWriters(graph->inputs()[i + 1]));
    }
    self_ = module._ivalue();
    code_ = jit::Code(graph, model_.name);
  }

  void check_signature(const jit::Graph& graph) const {
    const std::size_t inputs = graph.inputs().size() - 1;  // the first one is the module itself
    if (inputs != model_.inputs.size()) {
      throw Error(ErrorKind::kValue, "node '" + model_.name + "': its model takes " +
                                         std::to_string(inputs) + " inputs, the bundle declares " +
                                         std::to_string(model_.inputs.size()));
    }
    std::size_t outputs = graph.outputs().size();
    if (outputs == 1) {
      if (const auto tuple = graph.outputs()[0]->type()->cast<c10::TupleType>()) {
        outputs = tuple->elements().size();
      } else if (graph.outputs()[0]->type()->cast<c10::ListType>()) {
        return;  // how many there are is known when it has run
      }
    }
    if (outputs != model_.outputs.size()) {
      throw Error(ErrorKind::kValue,
                  "node '" + model_.name + "': its model returns " + std::to_string(outputs) +
                      " outputs, the bundle declares " + std::to_string(model_.outputs.size()));
    }
  }

  Model model_;
  int threads_;
  jit::Code code_;
  c10::IValue self_;
  std::vector<bool> writes_input_;
};

TorchBinding::TorchBinding(TorchEngine& engine, std::span<const ConstTensorView> inputs,
                           std::span<const TensorView> outputs)
    : engine_(engine) {
  for (const ConstTensorView& view : inputs) {
    inputs_.push_back(tensor_over(view.data, view.dtype, view.shape));
  }
  for (const TensorView& view : outputs) {
    outputs_.push_back(tensor_over(view.data, view.dtype, view.shape));
  }
  stack_.reserve(1 + inputs.size() + outputs.size());
}

void TorchBinding::rebind_input(std::size_t index, const ConstTensorView& view) {
  inputs_.at(index) = tensor_over(view.data, view.dtype, view.shape);
}

void TorchBinding::rebind_output(std::size_t index, const TensorView& view) {
  outputs_.at(index) = tensor_over(view.data, view.dtype, view.shape);
}

Result<void> TorchBinding::run() noexcept {
  const Model& model = engine_.model();
  try {
    const c10::InferenceMode inference_mode;
    const ThreadsGuard threads(engine_.threads());
    stack_.clear();
    stack_.push_back(engine_.self());
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      stack_.emplace_back(engine_.writes_input(i) ? inputs_[i].clone() : inputs_[i]);
    }
    jit::InterpreterState(engine_.code()).run(stack_);

    const c10::IValue& first = stack_.front();
    if (stack_.size() == 1 && first.isTuple()) {
      const auto& elements = first.toTupleRef().elements();
      for (std::size_t i = 0; i < outputs_.size(); ++i) {
        if (!elements[i].isTensor()) {
          return Failure(ErrorKind::kValue, {"output ", model.name, "/", model.outputs[i].name,
                                             " of the TorchScript model is no tensor"});
        }
        if (Result<void> taken = take_output(i, elements[i].toTensor()); !taken) return taken;
      }
    } else if (stack_.size() == 1 && first.isTensorList()) {
      const c10::List<at::Tensor> list = first.toTensorList();
      if (list.size() != outputs_.size()) {
        return Failure(ErrorKind::kValue,
                       {"node '", model.name, "': its model returned ", std::to_string(list.size()),
                        " outputs, the bundle declares ", std::to_string(outputs_.size())});
      }
      for (std::size_t i = 0; i < outputs_.size(); ++i) {
        if (Result<void> taken = take_output(i, list.get(i)); !taken) return taken;
      }
    } else if (stack_.size() == 1 && first.isTensor()) {
      if (Result<void> taken = take_output(0, first.toTensor()); !taken) return taken;
    } else {
      return Failure(ErrorKind::kValue, {"node '", model.name, "': its model returned ",
                                         first.tagKind(), ", expected tensors"});
    }
    stack_.clear();  // libtorch reuses the outputs' memory in the next run
    return {};
  } catch (const c10::Error& error) {
    return Failure(ErrorKind::kValue,
                   {"node '", model.name, "' failed: ", cause(error.what_without_backtrace())});
  } catch (const std::exception& error) {
    return Failure(ErrorKind::kValue, {"node '", model.name, "' failed: ", cause(error.what())});
  }
}

Result<void> TorchBinding::take_output(std::size_t index, const at::Tensor& value) {
  const Port& port = engine_.model().outputs[index];
  at::Tensor& bound = outputs_[index];
  if (value.scalar_type() != bound.scalar_type() || value.sizes() != bound.sizes()) {
    return Failure(ErrorKind::kValue,
                   {"output ", engine_.model().name, "/", port.name, " is declared as ",
                    type_text(name_of(port.dtype), port.shape), ", but its model returned ",
                    type_text(value)});
  }
  if (value.is_contiguous() && !value.is_neg() && !value.is_conj()) {
    // Small outputs are the rule: copy_() would cost more than the copy.
    if (value.numel() != 0) std::memcpy(bound.data_ptr(), value.const_data_ptr(), value.nbytes());
  } else {
    bound.copy_(value);
  }
  return {};
}

std::unique_ptr<Engine> load(const Model& model, const std::filesystem::path& file,
                             const EngineOptions& options) {
  return std::make_unique<TorchEngine>(model, file, options);
}

constexpr EnginePlugin kPlugin{kEngineAbi, load};

}  // namespace
}  // namespace leapp

extern "C" LEAPP_EXPORT const leapp::EnginePlugin* leapp_engine_plugin() {
  return &leapp::kPlugin;
}
