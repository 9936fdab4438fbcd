// Engines run one model file. The runtime uses them only through this interface.
//
// An Engine is the loaded model: its weights and its signature. A Binding is a set of buffers that
// the model reads and writes. They are set once, so run() makes no additional copies. One Engine
// may have several Bindings, which share the weights; a runtime that swaps two state buffers has
// two.
//
//   auto engine = leapp::load_engine(model, folder / model.file->path);
//   auto binding = engine->bind(inputs, outputs);  // views, in the order of the model's ports
//   binding->run().value();                        // the output buffers now contain the result
//
// Lifetime: an Engine outlives its Bindings, the buffers outlive the Binding that uses them.
// Threads: distinct engines may run at the same time; the bindings of one engine may not, unless
// the engine's documentation says otherwise. An EngineRegistry maps backends to engines: "onnx" is
// ONNX Runtime, opened with dlopen when the first model needs it; "jit" is TorchScript, a plugin
// (libleapp_engine_torch.so) loaded in the same way; "cpp" is the library that build_native()
// compiled. LEAPP itself links none of them.
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

/// Options of an engine. The defaults suit a control loop: one thread, which never spins.
struct EngineOptions {
  /// Number of threads that share the work of one operator, including the caller's. 0: the engine
  /// decides.
  int threads = 1;
  /// Processors (from 0) for the additional threads, one each; empty: the system decides. This and
  /// `spinning` apply to ONNX Runtime: libtorch's threads belong to the whole process.
  std::vector<int> affinity = {};
  /// True if idle threads keep a core busy, for a shorter latency.
  bool spinning = false;
  /// "cpu", "cuda", or an execution provider's own name. Empty: the best available one. A requested
  /// provider that is missing is an error.
  std::string provider = {};
  /// True if a TorchScript model on the CPU may run in ONNX Runtime, which is faster, as the ONNX
  /// translation that its file contains. compile_graph() adds it after comparing it with every
  /// recorded sample. Models without one run in libtorch, and so do all models if ONNX Runtime is
  /// missing.
  bool translate = true;

  bool operator==(const EngineOptions&) const = default;
};

/// Work on an accelerator that was recorded once and can be repeated at low cost.
class LEAPP_EXPORT Recording {
 public:
  virtual ~Recording() = default;
  virtual Result<void> replay() noexcept = 0;

 protected:
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
};

/// The memory of an accelerator. Copies, runs and replays of one thread happen in the order of the
/// calls, but may still be in progress when the call returns; synchronize() waits for them.
class LEAPP_EXPORT DeviceMemory {
 public:
  enum class Copy : std::uint8_t { kToDevice, kToHost, kWithin };

  virtual ~DeviceMemory() = default;

  /// Returns "cuda:0".
  virtual std::string device() const = 0;
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Copies memory. Host memory on either side may be reused after it returns.
  virtual Result<void> copy(void* to, const void* from, std::size_t bytes, Copy way) noexcept = 0;
  virtual Result<void> synchronize() noexcept = 0;
  /// Records the work that `work` submits to the device. `work` must have run before. Returns null
  /// if the device cannot record; throws Error if this work cannot be recorded.
  virtual std::unique_ptr<Recording> record(const std::function<Result<void>()>& work) = 0;

 protected:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
};

/// A model with its buffers. See above for lifetime and threads.
class LEAPP_EXPORT Binding {
 public:
  virtual ~Binding() = default;

  /// Replaces one buffer by another with the same type and shape. Not for real time.
  virtual void rebind_input(std::size_t index, const ConstTensorView& view) = 0;
  virtual void rebind_output(std::size_t index, const TensorView& view) = 0;

  /// Reads the inputs, writes the outputs. After a failure the contents of the outputs are
  /// unspecified.
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

  /// Returns the engine and device as text: "ONNX Runtime 1.31.0, CPU".
  virtual std::string description() const = 0;

  /// Binds the buffers to run with, in the order of the model's ports. Throws Error(kValue), which
  /// names node and port, if the type or shape of a view differs from its port.
  virtual std::unique_ptr<Binding> bind(std::span<const ConstTensorView> inputs,
                                        std::span<const TensorView> outputs) = 0;

  /// Returns the device memory that the model uses, or null for host memory. bind() also accepts
  /// host memory and then copies.
  virtual std::shared_ptr<DeviceMemory> memory() const { return nullptr; }

  /// Binds buffers in memory(); run() may then return before the work is done.
  virtual std::unique_ptr<Binding> bind_device(std::span<const ConstTensorView> inputs,
                                               std::span<const TensorView> outputs);

 protected:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
};

/// A verified model file. Engines use these bytes and open no file themselves, so the checked bytes
/// are the ones that run. The bytes are valid during the call, and as long as `keeper`.
struct ModelFile {
  std::filesystem::path path;  ///< for messages
  std::span<const std::byte> bytes = {};
  /// Other files that the model may read: their names in the model, and their bytes.
  std::vector<std::pair<std::string, std::span<const std::byte>>> external_data = {};
  Trust trust = Trust::kData;
  /// For C++: the permission to run machine code, and the record of the build.
  bool allow_native = false;
  std::filesystem::path native_record = {};
  /// Owner of the bytes if an engine may keep them. An engine that keeps it uses the weights in
  /// place, which saves a copy but may be slower, because the weights are not repacked.
  std::shared_ptr<const void> keeper = nullptr;
};

/// Loads `file` as the model of a node. Its signature, as far as the file states it, is checked
/// against the model's ports. Throws Error with the node's name; Code::kNotTrusted for an untrusted
/// model that does more than compute.
using EngineFactory = std::function<std::unique_ptr<Engine>(
    const Model& model, const ModelFile& file, const EngineOptions& options)>;

/// The model of a node, and the engine that the factory of its backend created.
struct LoadedNode {
  ModelFile file;
  const Engine* engine = nullptr;
};

/// Loads several nodes as one engine. `part` contains them in order of execution, with the wires
/// between them. `nodes` contains their single engines, which are valid during the call.
/// `signature` is that of the whole, with ports named "node/port". Throws Error with the reason if
/// they cannot be merged.
using MergedEngineFactory =
    std::function<std::unique_ptr<Engine>(const Bundle& part, const std::vector<LoadedNode>& nodes,
                                          const Model& signature, const EngineOptions& options)>;

/// A map from backends to engine factories. A value: copies are independent.
class LEAPP_EXPORT EngineRegistry {
 public:
  EngineRegistry() = default;

  /// Returns a registry with "onnx", "jit" and "cpp".
  static EngineRegistry standard();

  /// Adds or replaces the engine of a backend; without `merged` its nodes run one by one.
  void add(std::string backend, EngineFactory factory, MergedEngineFactory merged = {});

  bool contains(std::string_view backend) const noexcept;

  /// Returns whether nodes of that backend can share an engine.
  bool merges(std::string_view backend) const noexcept;

  /// Throws Error(kValue) "Unsupported backend" if the model's backend has no engine.
  std::unique_ptr<Engine> load(const Model& model, const ModelFile& file,
                               const EngineOptions& options = {}) const;

  /// Returns one engine for the nodes of `part`, which all have one backend that merges().
  std::unique_ptr<Engine> load_merged(const Bundle& part, const std::vector<LoadedNode>& nodes,
                                      const Model& signature, const EngineOptions& options) const;

 private:
  struct Entry {
    std::string backend;
    EngineFactory load;
    MergedEngineFactory load_merged;
  };
  const Entry* find(std::string_view backend) const noexcept;

  std::vector<Entry> entries_;
};

/// Loads a file and the external data that `model` lists, with EngineRegistry::standard(). Does not
/// check checksums.
LEAPP_EXPORT std::unique_ptr<Engine> load_engine(const Model& model,
                                                 const std::filesystem::path& file,
                                                 const EngineOptions& options = {},
                                                 Trust trust = Trust::kData);

/// Checks views against ports; for implementations of engines. Throws Error(kValue).
LEAPP_EXPORT void check_views(const Model& model, std::span<const ConstTensorView> inputs,
                              std::span<const TensorView> outputs);

/// Interface of a plugin. It exports one function of this name and type: extern "C" LEAPP_EXPORT
/// const leapp::EnginePlugin* leapp_engine_plugin();
struct EnginePlugin {
  std::uint32_t abi;  ///< kEngineAbi of the headers it was built with
  std::unique_ptr<Engine> (*load)(const Model& model, const ModelFile& file,
                                  const EngineOptions& options);
  /// Loads several nodes as one engine. May be null.
  std::unique_ptr<Engine> (*load_merged)(const Bundle& part, const std::vector<LoadedNode>& nodes,
                                         const Model& signature, const EngineOptions& options);
};

inline constexpr std::uint32_t kEngineAbi = 8;

/// Opens a plugin: a path, or a file name that is searched in $LEAPP_ENGINE_PATH (directories
/// separated by ':'), next to this library, and on the system's library path. Throws
/// Error(kNotFound) with the searched places. The plugin stays loaded until the process ends.
LEAPP_EXPORT const EnginePlugin& open_engine_plugin(const std::string& library);

/// Sets the path of ONNX Runtime: libonnxruntime.so or its directory. LEAPP_ONNXRUNTIME takes
/// precedence. Call it before the first ONNX model is loaded.
LEAPP_EXPORT void use_onnxruntime(const std::filesystem::path& path);

/// Allows ONNX models to use operators of another domain, which the ONNX Runtime in use must
/// support. Always allowed are ONNX's own operators, those of "com.microsoft" and "ai.onnx.ml", and
/// the functions of a file. Applies to the whole process from now on. Thread-safe.
LEAPP_EXPORT void allow_onnx_domain(const std::string& domain);

}  // namespace leapp
