#include "compile/model_files.h"

#include <c10/util/ScopeExit.h>

#include "base/check.h"
#include "bundle/staging.h"
#include "bundle/verified_files.h"
#include "export/cpp/cpp_export.h"
#include "export/torchscript/exporter_ops.h"
#include "export/torchscript/torchscript.h"
#include "leapp/trace/onnx_export.h"

namespace leapp::compile {
namespace {

using session::Backend;
using Files = std::vector<FileEntry>;  // the model first, then its external data

// Returns the graph with the names of the model's ports, which may differ for ONNX.
ir::Graph with_names_of(const Model& model, ir::Graph graph) {
  std::vector<ir::Graph::Output> outputs = graph.outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i].name = model.outputs[i].name;
  graph.set_outputs(std::move(outputs));
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    graph.value(graph.inputs()[i]).name = model.inputs[i].name;
  }
  return graph;
}

Files write_external(const ir::Graph& graph, const std::filesystem::path& folder,
                     const ExportedNode& exported, session::ExternalBackend* external) {
  const session::Node& node = exported.node();
  require(
      external != nullptr, Code::kNeedsPython,
      "node '" + node.name + "': export_with='" + *node.export_with +
          "' goes through PyTorch's Python exporters. Export from Python, or use 'onnx' or 'jit'.");
  const bool onnx = session::parse_backend(node.export_with) == Backend::kBridgedOnnx;
  const auto file = folder / (node.name + (onnx ? ".onnx" : ".pt2"));
  const ir::Graph named = with_names_of(exported.model, graph);
  const std::filesystem::path script = file.string() + ".script";
  const auto removed = c10::make_scope_exit([&] {
    std::error_code ignored;
    std::filesystem::remove(script, ignored);
  });
  const bool rewrites = *node.export_with == "onnx-torchscript";
  torchscript::write(rewrites ? torchscript::for_onnx_exporter(named) : named, script, {});
  external->write({*node.export_with, script, named, file, node.backend_params});
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
                  const ExportedNode& exported, session::ExternalBackend* external) {
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
                                  : write_external(graph, folder, exported, external);
}

}  // namespace

std::string format_of(Backend backend) {
  if (backend == Backend::kCpp) return "cpp";
  if (backend == Backend::kTorchScript) return "jit";
  return backend == Backend::kExportedProgram ? "pt2" : "onnx";
}

void write_model(Backend backend, const ir::Graph& graph, const std::filesystem::path& folder,
                 const std::string& torch_version, ExportedNode& exported,
                 session::ExternalBackend* external) {
  const Files files = write_files(backend, graph, folder, exported, external);
  Model& model = exported.model;
  model.file = files.front();
  model.external_data.assign(files.begin() + 1, files.end());
  if (format_of(backend) == "onnx") {
    model.opset_version = static_cast<int>(session::params_of(exported.node()).opset_version);
  }
  if (backend == Backend::kExportedProgram) model.torch_version = torch_version;
}

}  // namespace leapp::compile
