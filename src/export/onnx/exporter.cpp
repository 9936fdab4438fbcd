#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/port_suffix.h"
#include "export/onnx/custom.h"
#include "export/onnx/finish.h"
#include "export/onnx/op_context.h"
#include "export/onnx/registry.h"
#include "leapp/trace/onnx_export.h"
#include "onnx/writer.h"

namespace leapp {
namespace {

using namespace onnx_export;

const ConverterRegistry& built_in() {
  static const ConverterRegistry* const kRegistry = [] {
    auto* registry = new ConverterRegistry();
    register_all(*registry);
    return registry;
  }();
  return *kRegistry;
}

/// Returns the oldest file format version that supports the opset.
std::int64_t ir_version_for(int opset) {
  if (opset >= 23) return 11;
  if (opset >= 21) return 10;
  return opset >= 19 ? 9 : 8;
}

void convert_op(ValueMap& values, const ir::Op& op) {
  OpContext context(values, op);
  const std::string name = op.signature->qualified_name();
  if (const auto custom = find_custom(name)) {
    run_custom(*custom, context);
    return;
  }
  const Converter* converter = built_in().find(name);
  if (context.touches_complex()) {
    if (const Converter* for_complex = built_in().find_complex(name)) converter = for_complex;
  }
  if (converter == nullptr) context.fail("there is no ONNX converter for it");
  try {
    (*converter)(context);
  } catch (const OpError&) {
    throw;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kExport) context.fail(error.code(), error.text(), "");
    const std::string where = op.source.known() ? " (" + op.source.to_string() + ")" : "";
    throw error.behind(name + where + ": ");
  }
  // Converters omit results that PyTorch does not define, such as the form of factors.
  for (std::size_t i = 0; i < context.result_count(); ++i) {
    context.need(op.results[i].is_list || !context.is_used(i) || context.is_set(i),
                 "its result " + std::to_string(i) + " is used, which LEAPP does not convert");
  }
}

/// Returns the port names of the file.
OnnxExport port_names(const ir::Graph& graph) {
  OnnxExport ports;
  for (const ir::ValueId id : graph.inputs()) ports.inputs.push_back(graph.value(id).name);
  for (const ir::Graph::Output& output : graph.outputs()) ports.outputs.push_back(output.name);
  separate_names(ports.inputs, ports.outputs);
  std::map<std::string, std::string> taken;  // domains, with the names in the file and in the graph
  const auto take = [&](const std::string& chosen, const std::string& name) {
    const auto [owner, is_free] = taken.emplace(chosen, name);
    require(is_free, Code::kPortNamesClash,
            "two ports would both be called '" + chosen + "' in the ONNX model: rename the port '" +
                owner->second + "' or '" + name + "'");
  };
  for (std::size_t i = 0; i < ports.inputs.size(); ++i) {
    take(ports.inputs[i], graph.value(graph.inputs()[i]).name);
  }
  for (std::size_t i = 0; i < ports.outputs.size(); ++i) {
    take(ports.outputs[i], graph.outputs()[i].name);
  }
  return ports;
}

Value bind_input(Builder& builder, const ir::TensorType& type, const std::string& name) {
  require(!is_complex(type.dtype), Code::kComplexPort,
          "the port '" + name + "' is " + std::string(name_of(type.dtype)) +
              ", and ONNX Runtime has no complex tensors: pass torch.view_as_real() of it, or use "
              "export_with='jit'");
  return builder.input(name, {type.dtype, type.shape});
}

onnx::Model convert(const ir::Graph& graph, const OnnxExport& ports,
                    const OnnxExportOptions& options) {
  require(options.opset_version >= kMinOnnxOpset && options.opset_version <= kMaxOnnxOpset,
          Code::kWrongValue,
          "opset_version is " + std::to_string(options.opset_version) +
              ", and LEAPP writes opset " + std::to_string(kMinOnnxOpset) + " to " +
              std::to_string(kMaxOnnxOpset));
  Builder builder(options.opset_version);
  ValueMap values(graph, builder);
  std::vector<Value> inputs;
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    const ir::ValueId id = graph.inputs()[i];
    inputs.push_back(bind_input(builder, graph.type(id), ports.inputs[i]));
    values.set(id, inputs.back());
  }
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    builder.set_source(static_cast<std::int32_t>(i));
    convert_op(values, graph.ops()[i]);
  }
  std::vector<NamedOutput> outputs;
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const ir::ValueId id = graph.outputs()[i].value;
    require(!is_complex(graph.type(id).dtype), Code::kComplexPort,
            "the port '" + ports.outputs[i] + "' is " + std::string(name_of(graph.type(id).dtype)) +
                ", and ONNX Runtime has no complex tensors: return torch.view_as_real() of it, or "
                "use export_with='jit'");
    outputs.push_back({ports.outputs[i], values.get(id)});
  }
  if (options.optimize) fuse(builder, outputs);
  onnx::Model model;
  model.ir_version = ir_version_for(options.opset_version);
  model.opsets = {{"", options.opset_version}};
  for (const auto& [domain, version] : builder.domains()) model.opsets.push_back({domain, version});
  model.producer_name = "leapp";
  model.graph = finish(builder, graph, inputs, std::move(outputs));
  model.graph.name = options.graph_name;
  return model;
}

}  // namespace

bool can_convert_to_onnx(std::string_view qualified_name) {
  const std::string name(qualified_name);
  return built_in().can_convert(name) || find_custom(name) != nullptr;
}

std::vector<std::string> onnx_convertible_ops() {
  std::vector<std::string> names = built_in().names();
  for (std::string& name : custom_names()) names.push_back(std::move(name));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string to_onnx(const ir::Graph& graph, const OnnxExportOptions& options) {
  return onnx::serialize(convert(graph, port_names(graph), options));
}

OnnxExport export_onnx(const ir::Graph& graph, const std::filesystem::path& path,
                       const OnnxExportOptions& options) {
  OnnxExport done = port_names(graph);
  const onnx::Model model = convert(graph, done, options);
  done.files = onnx::write_model(model, path, {.external_data = options.external_data});
  return done;
}

}  // namespace leapp
