#include "compile/model_files.h"

#include <fstream>

#include "base/check.h"
#include "bundle/verified_files.h"
#include "export/cpp/cpp_export.h"
#include "export/torchscript/torchscript.h"
#include "leapp/onnx_export.h"
#include "session/hooks.h"

namespace leapp::compile {
namespace {

using session::Backend;

void write_torchscript(const ir::Graph& graph, const std::filesystem::path& folder,
                       ExportedNode& exported) {
  const session::Node& node = exported.node();
  const auto file = folder / (node.name + ".pt");
  torchscript::write(
      graph, file,
      {.optimize = session::bool_param(node.backend_params, "optimize").value_or(false)});
  exported.model.file = entry_of(file);
}

void write_onnx(const ir::Graph& graph, const std::filesystem::path& folder,
                ExportedNode& exported) {
  const Metadata::Map& params = exported.node().backend_params;
  OnnxExportOptions options;
  options.opset_version =
      static_cast<int>(session::int_param(params, "opset_version").value_or(options.opset_version));
  options.optimize = session::bool_param(params, "optimize").value_or(true);
  options.external_data = session::bool_param(params, "external_data").value_or(false);
  options.graph_name = exported.node().name;
  OnnxExport written = export_onnx(graph, folder / (exported.node().name + ".onnx"), options);
  Model& model = exported.model;
  model.file = std::move(written.files.front());
  model.external_data.assign(written.files.begin() + 1, written.files.end());
  model.opset_version = options.opset_version;
}

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

void write_bridged(Backend backend, const ir::Graph& graph, const std::filesystem::path& folder,
                   const std::string& torch_version, ExportedNode& exported) {
  const session::Node& node = exported.node();
  require(static_cast<bool>(session::hooks().bridge), Code::kNeedsPython,
          "node '" + node.name + "': export_with='" + *node.export_with +
              "' goes through PyTorch's Python exporters. Export from Python, or use 'onnx' or "
              "'jit'.");
  const bool onnx = backend == Backend::kBridgedOnnx;
  const auto file = folder / (node.name + (onnx ? ".onnx" : ".pt2"));
  session::hooks().bridge(*node.export_with, with_names_of(exported.model, graph), file,
                          node.backend_params);
  Model& model = exported.model;
  model.file = entry_of(file);
  if (!onnx) {
    model.torch_version = torch_version;
    return;
  }
  model.opset_version = session::int_param(node.backend_params, "opset_version").value_or(20);
  const std::filesystem::path data = file.string() + ".data";
  std::error_code ignored;
  if (std::filesystem::exists(data, ignored)) model.external_data.push_back(entry_of(data));
}

void write_cpp(const ir::Graph& graph, const std::filesystem::path& folder,
               ExportedNode& exported) {
  Model& model = exported.model;
  const std::string format =
      session::text_param(exported.node().backend_params, "weights").value_or("float32");
  const cpp_export::CppSource code =
      cpp_export::generate(graph, model.name, cpp_export::parse_weight_format(format));
  const auto file = folder / (model.name + ".cpp");
  write_bytes(file, code.source);
  model.file = entry_of(file);
  if (code.weights.empty()) return;
  const auto weights = folder / (model.name + ".weights");
  write_bytes(weights, code.weights);
  model.external_data.push_back(entry_of(weights));
}

}  // namespace

void write_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream stream(file, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  require(stream.good(), Code::kIo, file.string() + " could not be written");
}

std::string format_of(Backend backend) {
  if (backend == Backend::kCpp) return "cpp";
  if (backend == Backend::kTorchScript) return "jit";
  return backend == Backend::kExportedProgram ? "pt2" : "onnx";
}

void write_model(Backend backend, const ir::Graph& graph, const std::filesystem::path& folder,
                 const std::string& torch_version, ExportedNode& exported) {
  if (backend == Backend::kTorchScript) {
    write_torchscript(graph, folder, exported);
  } else if (backend == Backend::kOnnx) {
    write_onnx(graph, folder, exported);
  } else if (backend == Backend::kCpp) {
    write_cpp(graph, folder, exported);
  } else {
    write_bridged(backend, graph, folder, torch_version, exported);
  }
}

}  // namespace leapp::compile
