#include <algorithm>
#include <string>

#include "leapp/engine.h"
#include "runtime/engines/onnx/onnx_engine.h"

namespace leapp {
namespace {

constexpr const char* kTorchPlugin = "libleapp_engine_torch.so";

std::unique_ptr<Engine> load_torchscript(const Model& model, const std::filesystem::path& file,
                                         const EngineOptions& options) {
  // Opened once per process; a failed attempt is tried again at the next model.
  static const EngineFactory factory = [&] {
    try {
      return open_engine_plugin(kTorchPlugin);
    } catch (const Error& error) {
      throw Error(error.kind(),
                  "node '" + model.name +
                      "' is a TorchScript model, which needs libtorch: " + error.what());
    }
  }();
  return factory(model, file, options);
}

}  // namespace

EngineRegistry EngineRegistry::standard() {
  EngineRegistry registry;
  registry.add("onnx",
               [](const Model& model, const std::filesystem::path& file,
                  const EngineOptions& options) { return load_onnx_engine(model, file, options); });
  registry.add("jit", load_torchscript);
  registry.merges_onnx_ = true;
  return registry;
}

void EngineRegistry::add(std::string backend, EngineFactory factory) {
  if (backend == "onnx") merges_onnx_ = false;
  const auto found = std::find_if(factories_.begin(), factories_.end(),
                                  [&](const auto& entry) { return entry.first == backend; });
  if (found != factories_.end()) {
    found->second = std::move(factory);
  } else {
    factories_.emplace_back(std::move(backend), std::move(factory));
  }
}

bool EngineRegistry::contains(std::string_view backend) const noexcept {
  return std::any_of(factories_.begin(), factories_.end(),
                     [&](const auto& entry) { return entry.first == backend; });
}

std::unique_ptr<Engine> EngineRegistry::load(const Model& model, const std::filesystem::path& file,
                                             const EngineOptions& options) const {
  const std::string backend = model.backend.value_or("null");
  for (const auto& [name, factory] : factories_) {
    if (name == backend) return factory(model, file, options);
  }
  std::string known;
  for (const auto& entry : factories_) known += (known.empty() ? "" : ", ") + entry.first;
  throw Error(ErrorKind::kValue, "Unsupported backend '" + backend + "' of node '" + model.name +
                                     "'; this runtime has: " + known);
}

std::unique_ptr<Engine> load_engine(const Model& model, const std::filesystem::path& file,
                                    const EngineOptions& options) {
  return EngineRegistry::standard().load(model, file, options);
}

}  // namespace leapp
