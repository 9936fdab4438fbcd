#include <algorithm>
#include <string>

#include "base/check.h"
#include "bundle/verified_files.h"
#include "leapp/engine.h"
#include "runtime/engines/cpp/native_library.h"
#include "runtime/engines/in_place.h"
#include "runtime/engines/onnx/onnx_engine.h"
#include "runtime/loader.h"
#include "runtime/merged_onnx.h"

namespace leapp {
namespace {

constexpr const char* kTorchPlugin = "libleapp_engine_torch.so";

// Opened once per process; after a failure, the next model tries again.
const EnginePlugin& torch_plugin(const std::string& node) {
  static const EnginePlugin& plugin = [&]() -> const EnginePlugin& {
    try {
      return open_engine_plugin(kTorchPlugin);
    } catch (const Error& error) {
      throw error.behind(
          "node '" + node +
          "' is a TorchScript model, which needs libtorch (libtorch.so). Install "
          "PyTorch ('pip install torch'), activate the environment that has it, name its directory "
          "(LIBTORCH_ROOT=<torch>, LD_LIBRARY_PATH=<torch>/lib), or export the node with 'onnx', "
          "which does not need it. ");
    }
  }();
  return plugin;
}

// A model's file with its external data.
struct OpenModel {
  OpenModel(const Model& model, const std::filesystem::path& path,
            const std::function<FileBytes(const std::filesystem::path&)>& open, Trust trust)
      : own(open(path)), file{.path = path, .bytes = own.bytes(), .trust = trust} {
    for (const FileEntry& entry : model.external_data) {
      beside.push_back(open(path.parent_path() / entry.path));
      file.external_data.emplace_back(name_in_model(model, entry), beside.back().bytes());
    }
  }

  FileBytes own;
  std::vector<FileBytes> beside;
  ModelFile file;
};

}  // namespace

EngineRegistry EngineRegistry::standard() {
  EngineRegistry registry;
  registry.add(
      "onnx",
      [](const Model& model, const ModelFile& file, const EngineOptions& options) {
        return load_onnx_engine(model, file, options);
      },
      load_merged_onnx);
  registry.add(
      "jit",
      [](const Model& model, const ModelFile& file, const EngineOptions& options) {
        return torch_plugin(model.name).load(model, file, options);
      },
      [](const Bundle& part, const std::vector<LoadedNode>& nodes, const Model& signature,
         const EngineOptions& options) {
        return torch_plugin(signature.name).load_merged(part, nodes, signature, options);
      });
  registry.add("cpp", load_cpp_engine);
  return registry;
}

void EngineRegistry::add(std::string backend, EngineFactory factory, MergedEngineFactory merged) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.backend == backend; });
  entries_.push_back({std::move(backend), std::move(factory), std::move(merged)});
}

const EngineRegistry::Entry* EngineRegistry::find(std::string_view backend) const noexcept {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.backend == backend; });
  return found != entries_.end() ? &*found : nullptr;
}

bool EngineRegistry::contains(std::string_view backend) const noexcept {
  return find(backend) != nullptr;
}

bool EngineRegistry::merges(std::string_view backend) const noexcept {
  const Entry* entry = find(backend);
  return entry != nullptr && entry->load_merged != nullptr;
}

std::unique_ptr<Engine> EngineRegistry::load(const Model& model, const ModelFile& file,
                                             const EngineOptions& options) const {
  const std::string backend = model.backend.value_or("null");
  if (const Entry* entry = find(backend)) return entry->load(model, file, options);
  std::string known;
  for (const Entry& entry : entries_) known += (known.empty() ? "" : ", ") + entry.backend;
  throw Error(Code::kUnsupportedBackend,
              "Unsupported backend '" + backend + "' of node '" + model.name +
                  "'; this runtime has: " + known +
                  (backend == "pt2" ? "; programs of torch.export run in "
                                      "Python only"
                                    : ""));
}

std::unique_ptr<Engine> EngineRegistry::load_merged(const Bundle& part,
                                                    const std::vector<LoadedNode>& nodes,
                                                    const Model& signature,
                                                    const EngineOptions& options) const {
  const Entry* entry = part.models.empty() ? nullptr : find(part.models[0].backend.value_or(""));
  demand(entry != nullptr && entry->load_merged, "these nodes have no merged engine");
  return entry->load_merged(part, nodes, signature, options);
}

std::unique_ptr<Engine> load_engine(const Model& model, const std::filesystem::path& file,
                                    const EngineOptions& options, Trust trust) {
  const EngineRegistry registry = EngineRegistry::standard();
  if (!registry.contains(model.backend.value_or("null")))
    registry.load(model, {}, options);  // throws
  const OpenModel opened(
      model, file, [](const auto& path) { return FileBytes(path); }, trust);
  return registry.load(model, opened.file, options);
}

std::unique_ptr<Engine> load_engine_in_place(const Model& model, const std::filesystem::path& file,
                                             Trust trust) {
  const auto opened = std::make_shared<OpenModel>(model, file, FileBytes::mapped, trust);
  ModelFile kept = opened->file;
  kept.keeper = opened;
  return EngineRegistry::standard().load(model, kept);
}

}  // namespace leapp
