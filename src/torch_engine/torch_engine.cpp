// The TorchScript engine, a plugin so that the runtime itself does not need libtorch.
//
// A model is frozen when it is loaded (its weights become constants of one flat graph) and then run
// by TorchScript's interpreter directly. The profiling executor, which is the default, rewrites the
// graph during the first calls, so a robot's first ticks would be its slowest, without a benefit on
// a CPU. Inputs are read in place; libtorch allocates each output, which is then copied to its
// bound buffer. On a CPU, a file with a translation runs in ONNX Runtime instead: see
// translation.h.
#include <ATen/Parallel.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/InferenceMode.h>
#include <torch/version.h>

#include <cstring>
#include <string>

#include "leapp/engine.h"
#include "torch_engine/torch_device.h"
#include "torch_engine/torch_dtype.h"
#include "torch_engine/torch_program.h"
#include "torch_engine/translation.h"

namespace leapp {
namespace {

namespace jit = torch::jit;

// libtorch's number of threads belongs to the process and is restored afterwards.
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

std::string type_text(std::string_view dtype, const Shape& shape) {
  return std::string(dtype) + " " + to_string(shape);
}

std::string type_text(const at::Tensor& tensor) {
  const std::optional<DType> dtype = from_torch(tensor.scalar_type());
  return type_text(dtype ? name_of(*dtype) : c10::toString(tensor.scalar_type()),
                   Shape(tensor.sizes().begin(), tensor.sizes().end()));
}

// TorchScript prefixes errors with a page of source; the cause is the last line.
std::string_view cause(std::string_view message) {
  const std::size_t start = message.rfind("RuntimeError: ");
  if (start != std::string_view::npos) message.remove_prefix(start);
  while (message.ends_with('\n')) message.remove_suffix(1);
  return message;
}

// Data that the bindings of an engine share.
struct LoadedModel {
  Model signature;
  TorchGraph graph;  // empty if several nodes were merged
  TorchProgram program;
  at::Device device;
  int threads;
};

class TorchBinding final : public Binding {
 public:
  TorchBinding(const LoadedModel& model, std::span<const ConstTensorView> inputs,
               std::span<const TensorView> outputs, at::Device memory)
      : model_(model), memory_(memory) {
    for (const ConstTensorView& view : inputs) {
      inputs_.push_back(tensor_over(view.data, view.dtype, view.shape, memory_));
    }
    for (const TensorView& view : outputs) {
      outputs_.push_back(tensor_over(view.data, view.dtype, view.shape, memory_));
    }
    stack_.reserve(1 + inputs.size() + outputs.size());
  }

  void rebind_input(std::size_t index, const ConstTensorView& view) override {
    inputs_.at(index) = tensor_over(view.data, view.dtype, view.shape, memory_);
  }

  void rebind_output(std::size_t index, const TensorView& view) override {
    outputs_.at(index) = tensor_over(view.data, view.dtype, view.shape, memory_);
  }

  Result<void> run() noexcept override {
    const std::string& node = model_.signature.name;
    try {
      const c10::InferenceMode inference_mode;
      const c10::DeviceGuard here(model_.device);
      const ThreadsGuard threads(model_.threads);
      const TorchProgram& program = model_.program;
      stack_.clear();
      if (program.self) stack_.push_back(*program.self);
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        stack_.emplace_back(argument(inputs_[i], program.writes_input[i]));
      }
      jit::InterpreterState(program.code).run(stack_);
      for (std::size_t i = 0; i < outputs_.size(); ++i) {
        if (Result<void> taken = take_output(i, stack_[i]); !taken) return taken;
      }
      stack_.clear();  // libtorch reuses the outputs' memory in the next run
      return {};
    } catch (const c10::Error& error) {
      return Failure(Code::kTickFailed,
                     {"node '", node, "' failed: ", cause(error.what_without_backtrace())});
    } catch (const std::exception& error) {
      return Failure(Code::kTickFailed, {"node '", node, "' failed: ", cause(error.what())});
    }
  }

 private:
  at::Tensor argument(const at::Tensor& input, bool written) const {
    if (memory_ != model_.device) return input.to(model_.device);
    return written ? input.clone() : input;
  }

  Result<void> take_output(std::size_t index, const c10::IValue& returned) {
    const Model& signature = model_.signature;
    const Port& port = signature.outputs[index];
    if (!returned.isTensor()) {
      return Failure(Code::kModelMismatch, {"output ", signature.name, "/", port.name,
                                            " of the TorchScript model is not a tensor"});
    }
    const at::Tensor& value = returned.toTensor();
    at::Tensor& bound = outputs_[index];
    if (value.scalar_type() != bound.scalar_type() || value.sizes() != bound.sizes()) {
      return Failure(Code::kModelMismatch,
                     {"output ", signature.name, "/", port.name, " is declared as ",
                      type_text(name_of(port.dtype), port.shape), ", but its model returned ",
                      type_text(value)});
    }
    if (value.is_cpu() && memory_.is_cpu() && value.is_contiguous() && !value.is_neg() &&
        !value.is_conj()) {
      // Most outputs are small: copy_() would cost more than the copy itself.
      if (value.numel() != 0) std::memcpy(bound.data_ptr(), value.const_data_ptr(), value.nbytes());
    } else {
      bound.copy_(value, /*non_blocking=*/!memory_.is_cpu());
    }
    return {};
  }

  const LoadedModel& model_;
  at::Device memory_;  // device of the buffers
  std::vector<at::Tensor> inputs_;
  std::vector<at::Tensor> outputs_;
  jit::Stack stack_;  // kept, so that its memory is allocated once
};

class TorchEngine final : public Engine {
 public:
  explicit TorchEngine(LoadedModel model) : model_(std::move(model)) {}

  std::string description() const override {
    return "TorchScript " TORCH_VERSION ", " +
           (model_.device.is_cpu() ? "CPU" : model_.device.str());
  }

  std::unique_ptr<Binding> bind(std::span<const ConstTensorView> inputs,
                                std::span<const TensorView> outputs) override {
    check_views(model_.signature, inputs, outputs);
    return std::make_unique<TorchBinding>(model_, inputs, outputs, at::Device(at::kCPU));
  }

  std::shared_ptr<DeviceMemory> memory() const override { return memory_of(model_.device); }

  const TorchGraph& graph() const noexcept { return model_.graph; }

  std::unique_ptr<Binding> bind_device(std::span<const ConstTensorView> inputs,
                                       std::span<const TensorView> outputs) override {
    check_views(model_.signature, inputs, outputs);
    return std::make_unique<TorchBinding>(model_, inputs, outputs, model_.device);
  }

 private:
  LoadedModel model_;
};

// Converts exceptions of libtorch during loading to Errors.
template <typename Load>
std::unique_ptr<Engine> make_engine(const Model& signature, const std::string& what,
                                    const Load& load) {
  const auto failed = [&](const char* why) {
    return Error(Code::kBadModel, "node '" + signature.name + "': " + what +
                                      " could not be loaded as TorchScript: " + why);
  };
  try {
    return load();
  } catch (const Error&) {
    throw;
  } catch (const c10::Error& error) {
    throw failed(error.what_without_backtrace());
  } catch (const std::exception& error) {
    throw failed(error.what());
  }
}

std::unique_ptr<Engine> load(const Model& model, const ModelFile& file,
                             const EngineOptions& options) {
  const at::Device device = choose_device(options.provider, model.name);
  return make_engine(model, file.path.string(), [&]() -> std::unique_ptr<Engine> {
    check_archive(model, file);
    if (options.translate && device.is_cpu()) {
      if (auto translated = load_translation(model, file, options)) return translated;
    }
    TorchGraph graph = load_graph(model, file, device);
    TorchProgram program = make_program(model, graph);
    return std::make_unique<TorchEngine>(
        LoadedModel{model, std::move(graph), std::move(program), device, options.threads});
  });
}

// The single nodes are already loaded, so their archives are checked. Without translations their
// graphs are joined, and the weights are shared.
std::unique_ptr<Engine> load_merged(const Bundle& part, const std::vector<LoadedNode>& nodes,
                                    const Model& signature, const EngineOptions& options) {
  const at::Device device = choose_device(options.provider, signature.name);
  return make_engine(signature, "its models", [&]() -> std::unique_ptr<Engine> {
    if (options.translate && device.is_cpu()) {
      if (auto merged = merge_translations(part, nodes, signature, options)) return merged;
    }
    std::vector<const TorchGraph*> graphs;
    for (const LoadedNode& node : nodes) {
      const auto* engine = dynamic_cast<const TorchEngine*>(node.engine);
      if (engine == nullptr) throw Error(Code::kNotMerged, "another engine serves one of them");
      graphs.push_back(&engine->graph());
    }
    return std::make_unique<TorchEngine>(LoadedModel{
        signature, {}, merge_programs(part, graphs, signature), device, options.threads});
  });
}

constexpr EnginePlugin kPlugin{kEngineAbi, load, load_merged};

}  // namespace
}  // namespace leapp

extern "C" LEAPP_EXPORT const leapp::EnginePlugin* leapp_engine_plugin() {
  return &leapp::kPlugin;
}
