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
// An EngineRegistry maps backends to engines: "onnx" is
// ONNX Runtime, opened with dlopen when the first model needs it; "jit" is TorchScript, a plugin
// (libleapp_engine_torch.so) loaded in the same way; "cpp" is what build_native() compiled. The
// library itself links none of them.
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

/// Options of an engine. The defaults suit a control loop: one thread that never spins.
struct EngineOptions {
  /// Threads that share the work inside one operator, the caller's included. 0: the engine decides.
  int threads = 1;
  /// Processors (from 0) for the additional threads, one each; empty: the system decides. This and
  /// `spinning` apply to ONNX Runtime: libtorch's threads belong to the whole process.
  std::vector<int> affinity = {};
  /// True if idle threads burn a core to answer sooner.
  bool spinning = false;
  /// "cpu", "cuda", or an execution provider's own name. Empty: the best one that is there. One
  /// that is asked for and missing is an error.
  std::string provider = {};
  /// True if a TorchScript model on the CPU may run in ONNX Runtime, which takes a fraction of the
  /// time. It is translated when it is loaded; the results are its own up to rounding. Models that
  /// cannot be translated, and all where ONNX Runtime is missing, run in libtorch either way.
  bool translate = true;

  bool operator==(const EngineOptions&) const = default;
};

/// Work on an accelerator that was recorded once, to be repeated at little cost.
class LEAPP_EXPORT Recording {
 public:
  virtual ~Recording() = default;
  virtual Result<void> replay() noexcept = 0;

 protected:
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
};

/// The memory of an accelerator. Copies, runs and replays of one thread happen in the order they
/// were asked for, but may still be under way when the call returns; synchronize() waits for them.
class LEAPP_EXPORT DeviceMemory {
 public:
  enum class Copy : std::uint8_t { kToDevice, kToHost, kWithin };

  virtual ~DeviceMemory() = default;

  /// Returns "cuda:0".
  virtual std::string device() const = 0;
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Copies memory. Host memory on either side may be reused when it returns.
  virtual Result<void> copy(void* to, const void* from, std::size_t bytes, Copy way) noexcept = 0;
  virtual Result<void> synchronize() noexcept = 0;
  /// Records what `work` asks of the device. `work` must have run before. Null where the device
  /// cannot record; throws Error when this work cannot be.
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

  /// Returns where it runs, as text: "ONNX Runtime 1.31.0, CPU".
  virtual std::string description() const = 0;

  /// Names the buffers to run with, in the order of the model's ports. Throws Error(kValue), which
  /// names node and port, when a view has another type or shape than its port.
  virtual std::unique_ptr<Binding> bind(std::span<const ConstTensorView> inputs,
                                        std::span<const TensorView> outputs) = 0;

  /// Called once after loading, before the first bind(). Not called on engines that were merged
  /// into another one. For work that takes time and pays off over many ticks.
  virtual void settle() {}

  /// Returns the memory the model works in, if it is not the host's. bind() takes host memory
  /// anyway, and copies.
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
  /// Other files that it may read: their names in the model, and their bytes.
  std::vector<std::pair<std::string, std::span<const std::byte>>> external_data = {};
  Trust trust = Trust::kData;
  /// For C++: whether machine code may run, and where it is written down what was compiled.
  bool allow_native = false;
  std::filesystem::path native_record = {};
  /// Owner of the bytes if they may be kept. An engine that keeps it uses the weights in place: it
  /// saves a copy in memory, but may run slower because the weights are not repacked.
  std::shared_ptr<const void> keeper = nullptr;
};

/// Loads `file` as the model of a node. Its signature, as far as the file states it, is checked
/// against the model's ports. Throws Error with the node's name; Code::kNotTrusted for a model that
/// does more than compute, unless it is trusted to.
using EngineFactory = std::function<std::unique_ptr<Engine>(
    const Model& model, const ModelFile& file, const EngineOptions& options)>;

/// A node's model, and the engine that its backend's factory made of it.
struct LoadedNode {
  ModelFile file;
  const Engine* engine = nullptr;
};

/// Loads several nodes as one engine. `part` holds them in order of execution, with the wires among
/// them; `nodes` are they by themselves, for as long as the call lasts; `signature` is that of the
/// whole, its ports called "node/port". Throws Error with the reason when they cannot be one.
using MergedEngineFactory =
    std::function<std::unique_ptr<Engine>(const Bundle& part, const std::vector<LoadedNode>& nodes,
                                          const Model& signature, const EngineOptions& options)>;

/// Says which factory serves which backend. A value: copies are independent.
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

  /// Throws Error(kValue) "Unsupported backend" when nothing serves the model's backend.
  std::unique_ptr<Engine> load(const Model& model, const ModelFile& file,
                               const EngineOptions& options = {}) const;

  /// Returns the nodes of `part`, all of one backend that merges(), as one engine.
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

/// Checks views against ports, for writers of engines. Throws Error(kValue).
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

inline constexpr std::uint32_t kEngineAbi = 7;

/// Opens a plugin: a path, or a file name that is searched in $LEAPP_ENGINE_PATH (directories
/// separated by ':'), next to this library, and on the system's library path. Throws
/// Error(kNotFound) with these places. The plugin stays loaded until the process ends.
LEAPP_EXPORT const EnginePlugin& open_engine_plugin(const std::string& library);

/// Sets the place of ONNX Runtime: libonnxruntime.so or its directory. LEAPP_ONNXRUNTIME takes
/// precedence. Only before the first ONNX model is loaded.
LEAPP_EXPORT void use_onnxruntime(const std::filesystem::path& path);

/// Lets ONNX models use operators of another domain, which the ONNX Runtime in use must know. Other
/// than ONNX's own, those of "com.microsoft" and "ai.onnx.ml" and the functions of a file are
/// loaded. For the whole process, from now on. Thread-safe.
LEAPP_EXPORT void allow_onnx_domain(const std::string& domain);

}  // namespace leapp
