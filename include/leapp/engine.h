// Engines run one model file. The runtime knows them only through this interface.
//
// An Engine is the loaded model: its weights and its signature. A Binding is one way to run it: a
// set of buffers it reads and writes. The buffers are named once; run() then moves no more than the
// model itself needs. One Engine may have several Bindings (a runtime that swaps two state buffers
// has two), which share the weights.
//
//   auto engine = leapp::load_engine(model, folder / model.file->path);
//   auto binding = engine->bind(inputs, outputs);  // views, in the order of the model's ports
//   binding->run().value();                        // the outputs' memory now holds the result
//
// Lifetime: an Engine outlives its Bindings, the buffers outlive the Binding that uses them.
// Threads: distinct engines may run at the same time; the bindings of one engine may not, unless
// the engine's documentation says otherwise.
// Which engine serves which backend is said by an EngineRegistry, an explicit object: "onnx" is
// ONNX Runtime, opened with dlopen when the first model needs it; "jit" is TorchScript, a plugin
// (libleapp_engine_torch.so) loaded in the same way. The library itself links neither.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/result.h"
#include "leapp/tensor_view.h"
#include "leapp/visibility.h"

namespace leapp {

/// How an engine runs. The defaults suit a control loop: one thread, which never spins.
struct EngineOptions {
  /// Threads that share the work inside one operator, the caller's included. 0: the engine decides.
  int threads = 1;
  /// Processors (from 0) for the threads beside the caller's, one each; empty: the system decides.
  std::vector<int> affinity = {};
  /// Whether idle threads burn a core to answer sooner.
  bool spinning = false;
  /// "cpu", "cuda", or an execution provider's own name. Empty: the best one that is there. One
  /// that is asked for and missing is an error.
  std::string provider = {};

  bool operator==(const EngineOptions&) const = default;
};

/// A model with its buffers. See above for lifetime and threads.
class LEAPP_EXPORT Binding {
 public:
  virtual ~Binding() = default;

  /// Puts another buffer of the same type and shape in the place of one. Not for real time.
  virtual void rebind_input(std::size_t index, const ConstTensorView& view) = 0;
  virtual void rebind_output(std::size_t index, const TensorView& view) = 0;

  /// Reads the inputs, writes the outputs. On a failure the outputs hold anything.
  virtual Result<void> run() noexcept = 0;

 protected:
  Binding() = default;
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;
};

/// A loaded model.
class LEAPP_EXPORT Engine {
 public:
  virtual ~Engine() = default;

  /// Where it runs, for people: "ONNX Runtime 1.31.0, CPU".
  virtual std::string description() const = 0;

  /// Names the buffers to run with, in the order of the model's ports. Throws Error(kValue), which
  /// names node and port, when a view has another type or shape than its port.
  virtual std::unique_ptr<Binding> bind(std::span<const ConstTensorView> inputs,
                                        std::span<const TensorView> outputs) = 0;

 protected:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
};

/// Loads `file` as the model of a node. Its signature, as far as the file states it, is checked
/// against the model's ports. Throws Error with the node's name.
using EngineFactory = std::function<std::unique_ptr<Engine>(
    const Model& model, const std::filesystem::path& file, const EngineOptions& options)>;

/// Says which factory serves which backend. A value: copies are independent.
class LEAPP_EXPORT EngineRegistry {
 public:
  EngineRegistry() = default;

  /// "onnx" and "jit".
  static EngineRegistry standard();

  /// Adds or replaces the engine of a backend.
  void add(std::string backend, EngineFactory factory);

  bool contains(std::string_view backend) const noexcept;

  /// Whether ONNX models run with LEAPP's own engine, which can also run several as one graph.
  bool merges_onnx() const noexcept { return merges_onnx_; }

  /// Throws Error(kValue) "Unsupported backend" when nothing serves the model's backend.
  std::unique_ptr<Engine> load(const Model& model, const std::filesystem::path& file,
                               const EngineOptions& options = {}) const;

 private:
  std::vector<std::pair<std::string, EngineFactory>> factories_;
  bool merges_onnx_ = false;
};

/// EngineRegistry::standard().load(..).
LEAPP_EXPORT std::unique_ptr<Engine> load_engine(const Model& model,
                                                 const std::filesystem::path& file,
                                                 const EngineOptions& options = {});

/// Checks views against ports, for writers of engines. Throws Error(kValue).
LEAPP_EXPORT void check_views(const Model& model, std::span<const ConstTensorView> inputs,
                              std::span<const TensorView> outputs);

/// What a plugin offers. It exports one function of this name and type:
///
///   extern "C" LEAPP_EXPORT const leapp::EnginePlugin* leapp_engine_plugin();
struct EnginePlugin {
  std::uint32_t abi;  ///< kEngineAbi of the headers it was built with
  std::unique_ptr<Engine> (*load)(const Model& model, const std::filesystem::path& file,
                                  const EngineOptions& options);
};

inline constexpr std::uint32_t kEngineAbi = 1;

/// Opens a plugin: a path, or a file name that is looked for in $LEAPP_ENGINE_PATH (folders joined
/// by ':'), then beside this library, then where the system looks. Throws Error(kNotFound) with the
/// places tried. The plugin stays loaded until the process ends.
LEAPP_EXPORT EngineFactory open_engine_plugin(const std::string& library);

/// Where to look for ONNX Runtime before the usual places: libonnxruntime.so or its folder. The
/// environment's LEAPP_ONNXRUNTIME goes before this. Only before the first ONNX model is loaded.
LEAPP_EXPORT void use_onnxruntime(const std::filesystem::path& path);

}  // namespace leapp
