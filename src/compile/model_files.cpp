#include "compile/model_files.h"

#include "base/check.h"
#include "bundle/staging.h"
#include "bundle/verified_files.h"
#include "export/cpp/cpp_export.h"
#include "export/torchscript/torchscript.h"
#include "leapp/onnx_export.h"
#include "session/hooks.h"

namespace leapp::compile {
namespace {

using session::Backend;
using Files = std::vector<FileEntry>;  // the model first, then what it keeps beside it

// The bridge names ports by the model's names, which differ from the graph's where ONNX needs it.
ir::Graph with_names_of(const Model& model, ir::Graph graph) {
  std::vector<ir::Graph::Output> outputs = graph.outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i].name = model.outputs[i].name;
  graph.set_outputs(std::move(outputs));
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    graph.value(graph.inputs()[i]).name = model.inputs[i].name;
  }
  return graph;
}

Files write_bridged(const ir::Graph& graph, const std::filesystem::path& folder,
                    const ExportedNode& exported) {
  const session::Node& node = exported.node();
  require(
      static_cast<bool>(session::hooks().bridge), Code::kNeedsPython,
      "node '" + node.name + "': export_with='" + *node.export_with +
          "' goes through PyTorch's Python exporters. Export from Python, or use 'onnx' or 'jit'.");
  const bool onnx = session::parse_backend(node.export_with) == Backend::kBridgedOnnx;
  const auto file = folder / (node.name + (onnx ? ".onnx" : ".pt2"));
  session::hooks().bridge(*node.export_with, with_names_of(exported.model, graph), file,
                          node.backend_params);
  Files files = {entry_of(file)};
  const std::filesystem::path data = file.string() + ".data";
  std::error_code ignored;
  if (std::filesystem::exists(data, ignored)) files.push_back(entry_of(data));
  return files;
}

Files write_cpp(const ir::Graph& graph, const std::filesystem::path& stem,
                const std::string& weights) {
  const cpp_export::CppSource code = cpp_export::generate(graph, stem.filename().string(),
                                                          cpp_export::parse_weight_format(weights));
  Files files;
  const auto write = [&](const char* suffix, const std::string& bytes) {
    const std::filesystem::path file = stem.string() + suffix;
    write_bytes(file, bytes);
    files.push_back(entry_of(file));
  };
  write(".cpp", code.source);
  if (!code.weights.empty()) write(".weights", code.weights);
  return files;
}

Files write_files(Backend backend, const ir::Graph& graph, const std::filesystem::path& folder,
                  const ExportedNode& exported) {
  const std::string& name = exported.node().name;
  const session::BackendParams params = session::params_of(exported.node());
  if (backend == Backend::kTorchScript) {
    const auto file = folder / (name + ".pt");
    torchscript::write(graph, file, {.optimize = params.optimize.value_or(false)});
    return {entry_of(file)};
  }
  if (backend == Backend::kOnnx) {
    return export_onnx(graph, folder / (name + ".onnx"),
                       {.opset_version = static_cast<int>(params.opset_version),
                        .optimize = params.optimize.value_or(true),
                        .external_data = params.external_data,
                        .graph_name = name})
        .files;
  }
  return backend == Backend::kCpp ? write_cpp(graph, folder / name, params.weights)
                                  : write_bridged(graph, folder, exported);
}

}  // namespace

std::string format_of(Backend backend) {
  if (backend == Backend::kCpp) return "cpp";
  if (backend == Backend::kTorchScript) return "jit";
  return backend == Backend::kExportedProgram ? "pt2" : "onnx";
}

void write_model(Backend backend, const ir::Graph& graph, const std::filesystem::path& folder,
                 const std::string& torch_version, ExportedNode& exported) {
  const Files files = write_files(backend, graph, folder, exported);
  Model& model = exported.model;
  model.file = files.front();
  model.external_data.assign(files.begin() + 1, files.end());
  if (format_of(backend) == "onnx") {
    model.opset_version = static_cast<int>(session::params_of(exported.node()).opset_version);
  }
  if (backend == Backend::kExportedProgram) model.torch_version = torch_version;
}

}  // namespace leapp::compile
