#include "runtime/merged_onnx.h"

#include <string>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "runtime/engines/onnx/onnx_engine.h"
#include "runtime/merge_graphs.h"

namespace leapp {
namespace {

// ONNX Runtime copies the names of all ports in every run, which allocates for names of more than
// 15 characters. These names are internal; if a model already uses one, the nodes run separately.
Model shorten_ports(onnx::Graph& graph, Model signature) {
  std::unordered_map<std::string, std::string> names;
  const auto shorten = [&](std::vector<Port>& ports, const std::string& prefix) {
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const std::string name = prefix + std::to_string(i);
      names.emplace(std::exchange(ports[i].name, name), name);
    }
  };
  shorten(signature.inputs, "leapp/in");
  shorten(signature.outputs, "leapp/out");
  rename_values(graph, names);
  return signature;
}

}  // namespace

onnx::Model read_merged_onnx(const Bundle& part, const std::vector<ModelFile>& files,
                             const Model& signature) {
  std::vector<onnx::Model> models;
  std::uintmax_t bytes = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    bytes += files[i].bytes.size();
    const std::string& node = part.models[i].name;
    require(bytes <= kMaxMergedBytes, Code::kNotMerged,
            "with '" + node + "' the models have " + std::to_string(bytes) +
                " bytes, and only up to " + std::to_string(kMaxMergedBytes) +
                " (32 MiB) are merged. Larger models would not become faster; use the bundle "
                "without merging");
    models.push_back(
        onnx::parse_model(onnx::Bytes::borrowed(files[i].bytes), files[i].path.string()));
    const std::string reason = why_not_mergeable(models.back());
    require(reason.empty(), Code::kNotMerged, "'" + node + "' cannot be merged: " + reason);
    require(same_opsets(models[0], models.back()), Code::kNotMerged,
            "'" + node + "' uses different operator sets");
  }
  std::vector<MergeSource> sources;
  for (std::size_t i = 0; i < models.size(); ++i) sources.push_back({&part.models[i], &models[i]});
  return merge_graphs(part, sources, signature);
}

std::unique_ptr<Engine> load_merged_onnx(const Bundle& part, const std::vector<LoadedNode>& nodes,
                                         const Model& signature, const EngineOptions& options) {
  std::vector<ModelFile> files;
  for (const LoadedNode& node : nodes) files.push_back(node.file);
  onnx::Model model = read_merged_onnx(part, files, signature);
  const Model shortened = shorten_ports(model.graph, signature);
  const std::string serialized = onnx::serialize(model);
  const ModelFile merged{.path = {}, .bytes = std::as_bytes(std::span(serialized))};
  return load_onnx_engine(shortened, merged, options);
}

}  // namespace leapp
