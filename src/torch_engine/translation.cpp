#include "torch_engine/translation.h"

#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "onnx/admission.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "runtime/engines/onnx/onnx_engine.h"
#include "runtime/engines/translation.h"
#include "runtime/merged_onnx.h"
#include "torch_engine/archive.h"

namespace leapp {
namespace {

using caffe2::serialize::PyTorchStreamReader;

class TranslatedEngine final : public Engine {
 public:
  explicit TranslatedEngine(std::unique_ptr<Engine> onnx) : onnx_(std::move(onnx)) {}

  std::string description() const override {
    return onnx_->description() + ", translated from TorchScript";
  }
  std::unique_ptr<Binding> bind(std::span<const ConstTensorView> inputs,
                                std::span<const TensorView> outputs) override {
    return onnx_->bind(inputs, outputs);
  }

 private:
  std::unique_ptr<Engine> onnx_;
};

onnx::Bytes read_record(PyTorchStreamReader& reader, const std::string& name) {
  auto [data, size] = reader.getRecord(name);
  const auto owner = std::make_shared<at::DataPtr>(std::move(data));
  return {std::shared_ptr<const std::byte>(owner, static_cast<const std::byte*>(owner->get())),
          size};
}

// Replaces a weight that is a record of the archive by its bytes.
void take_weight(PyTorchStreamReader& reader, onnx::Tensor& weight) {
  const onnx::ExternalData external = *weight.external;
  require(reader.hasRecord(external.location), Code::kBadModel,
          "weight '" + weight.name + "' is the record '" + external.location +
              "', which the file does not have");
  const onnx::Bytes record = read_record(reader, external.location);
  require(external.offset == 0 && external.length == record.size, Code::kBadModel,
          "weight '" + weight.name + "' is not all of the record '" + external.location + "'");
  weight.raw = record;
  weight.external.reset();
}

// Returns the translation in a file as the bytes of an ONNX model with inline weights.
std::optional<std::string> read_translation(const Model& signature, const ModelFile& file) {
  PyTorchStreamReader reader(archive_over(file));
  if (!reader.hasRecord(kTranslationRecord)) return std::nullopt;
  const std::string what =
      "node '" + signature.name + "': " + file.path.string() + ", its translation to ONNX";
  const onnx::Bytes bytes = read_record(reader, kTranslationRecord);
  onnx::require_admissible({bytes.data.get(), bytes.size}, what);
  onnx::Model model = onnx::parse_model(bytes, what);
  try {
    for (onnx::Tensor& weight : model.graph.initializers) {
      if (weight.external) take_weight(reader, weight);
    }
  } catch (const Error& error) {
    throw error.behind(what + ": ");
  }
  return onnx::serialize(model);
}

EngineOptions on_cpu(const EngineOptions& options) {
  EngineOptions result = options;
  result.provider = "cpu";
  return result;
}

// Returns the new name of a port, out of two lists in the same order.
const std::string& renamed(const std::vector<Port>& from, const std::vector<Port>& to,
                           const std::string& port) {
  const auto found = std::ranges::find(from, port, &Port::name);
  demand(found != from.end(), "a wire has no port");
  return to[static_cast<std::size_t>(found - from.begin())].name;
}

// Returns the part, and the signature of the whole, with the names that the translations use.
std::pair<Bundle, Model> rename_ports(const Bundle& part, const Model& signature) {
  Bundle result = part;
  for (Model& model : result.models) model = with_translation_ports(model);
  const auto rename_input = [&](const std::string& node, std::string& port) {
    port = renamed(part.find_model(node)->inputs, result.find_model(node)->inputs, port);
  };
  const auto rename_output = [&](const std::string& node, std::string& port) {
    port = renamed(part.find_model(node)->outputs, result.find_model(node)->outputs, port);
  };
  for (Wire& wire : result.pipeline.data_flow) {
    rename_output(wire.source.node, wire.source.port);
    for (PortRef& target : wire.targets) rename_input(target.node, target.port);
  }
  for (NodePorts& node : result.pipeline.inputs) {
    for (std::string& port : node.ports) rename_input(node.node, port);
  }
  for (NodePorts& node : result.pipeline.outputs) {
    for (std::string& port : node.ports) rename_output(node.node, port);
  }
  Model whole = signature;
  const auto rename_whole = [&](std::vector<Port>& ports, const auto& rename_one) {
    for (Port& port : ports) {
      PortRef ref = *parse_port_ref(port.name);
      rename_one(ref.node, ref.port);
      port.name = to_string(ref);
    }
  };
  rename_whole(whole.inputs, rename_input);
  rename_whole(whole.outputs, rename_output);
  return {std::move(result), std::move(whole)};
}

}  // namespace

std::unique_ptr<Engine> load_translation(const Model& signature, const ModelFile& file,
                                         const EngineOptions& options) {
  const std::optional<std::string> onnx = read_translation(signature, file);
  if (!onnx) return nullptr;
  const ModelFile translated{.path = {}, .bytes = std::as_bytes(std::span(*onnx))};
  try {
    return std::make_unique<TranslatedEngine>(
        load_onnx_engine(with_translation_ports(signature), translated, on_cpu(options)));
  } catch (const Error& error) {
    log(LogLevel::kInfo, "node '" + signature.name +
                             "' runs in libtorch, as TorchScript: its translation to ONNX cannot "
                             "run here: " +
                             error.what());
    return nullptr;
  }
}

std::unique_ptr<Engine> merge_translations(const Bundle& part, const std::vector<LoadedNode>& nodes,
                                           const Model& signature, const EngineOptions& options) {
  std::vector<std::string> models;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::optional<std::string> onnx = read_translation(part.models[i], nodes[i].file);
    if (onnx) models.push_back(std::move(*onnx));
  }
  if (models.empty()) return nullptr;
  require(models.size() == nodes.size(), Code::kNotMerged,
          "some of the models are translated to ONNX and others are not");
  std::vector<LoadedNode> translated;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const ModelFile file{.path = nodes[i].file.path, .bytes = std::as_bytes(std::span(models[i]))};
    translated.push_back({file, nullptr});
  }
  const auto [renamed_part, renamed_signature] = rename_ports(part, signature);
  return std::make_unique<TranslatedEngine>(
      load_merged_onnx(renamed_part, translated, renamed_signature, on_cpu(options)));
}

}  // namespace leapp
