#include "view/model_facts.h"

#include <nlohmann/json.hpp>

#include "bundle/json_tree.h"
#include "bundle/verified_files.h"
#include "onnx/reader.h"
#include "runtime/engines/translation.h"
#include "view/script_tensors.h"
#include "view/zip_archive.h"

namespace leapp::view {
namespace {

// Limit of external weights that are read for their histograms; more would not fit into the memory
// of every desktop.
constexpr std::uint64_t kMostExternalBytes = std::uint64_t{2} << 30;

std::string property(const onnx::Properties& properties, std::string_view key) {
  for (const auto& [name, value] : properties) {
    if (name == key) return value;
  }
  return {};
}

void add_operators(const onnx::Graph& graph, int depth, std::vector<Operator>& operators) {
  for (const onnx::Node& node : graph.nodes) {
    operators.push_back(
        {.type = node.domain.empty() ? node.op_type : node.domain + "::" + node.op_type,
         .name = node.name,
         .from = property(node.metadata, "leapp.op"),
         .module = property(node.metadata, "leapp.module"),
         .where = node.doc_string,
         .inputs = node.inputs,
         .outputs = node.outputs,
         .depth = depth});
    for (const onnx::Attribute& attribute : node.attributes) {
      if (const auto* inner = std::get_if<std::shared_ptr<const onnx::Graph>>(&attribute.value)) {
        add_operators(**inner, depth + 1, operators);
      }
    }
  }
}

std::uint64_t external_bytes(const onnx::Model& model) {
  std::uint64_t sum = 0;
  for (const onnx::Tensor& tensor : model.graph.initializers) {
    if (tensor.external) sum += tensor.external->length;
  }
  return sum;
}

void read_onnx(const FileBytes& file, const BundleOptions& options, ModelFacts& facts) {
  const auto bytes = std::make_shared<const FileBytes>(file);
  facts.keep.push_back(bytes);
  auto model = std::make_shared<onnx::Model>(
      onnx::parse_model(onnx::Bytes::borrowed(bytes->bytes()), file.path().string()));
  facts.keep.push_back(model);
  add_operators(model->graph, 0, facts.operators);
  if (external_bytes(*model) <= kMostExternalBytes) {
    const std::filesystem::path folder = file.path().parent_path();
    try {
      for (const std::string& path : onnx::external_locations(*model)) {
        resolve_file(folder, path, options);  // does not leave the directory, also through a link
      }
      onnx::load_external_data(*model, folder);
    } catch (const Error& error) {
      facts.remarks.emplace_back(error.what());
    }
  }
  for (const onnx::Tensor& tensor : model->graph.initializers) {
    const auto dtype = onnx::dtype_of(tensor.type);
    if (!dtype) continue;
    const bool whole = tensor.raw.size == checked_byte_size(*dtype, tensor.dims);
    facts.weights.push_back(
        {tensor.name, {whole ? tensor.raw.data.get() : nullptr, *dtype, tensor.dims}});
  }
}

bool ends_with(const std::string& text, std::string_view end) {
  return std::string_view(text).ends_with(end);
}

// Finds an entry of an archive by its path inside the archive's top directory, whatever its name.
const ZipEntry* find_entry(const std::vector<ZipEntry>& entries, const std::string& path) {
  for (const ZipEntry& entry : entries) {
    if (ends_with(entry.name, "/" + path)) return &entry;
  }
  return nullptr;
}

void add_script_weights(const std::vector<ZipEntry>& entries, ModelFacts& facts) {
  const ZipEntry* list = find_entry(entries, "data.pkl");
  if (list == nullptr) return;
  for (const ScriptTensor& tensor : list_script_tensors(list->bytes)) {
    const ZipEntry* storage = find_entry(entries, "data/" + tensor.storage);
    const std::size_t width = size_of(tensor.dtype);
    const auto count = static_cast<std::uint64_t>(element_count(tensor.shape));
    const std::uint64_t stored = storage == nullptr ? 0 : storage->bytes.size() / width;
    const bool there =
        tensor.contiguous && tensor.offset <= stored && count <= stored - tensor.offset;
    const void* data = there ? storage->bytes.data() + tensor.offset * width : nullptr;
    facts.weights.push_back({tensor.name, {data, tensor.dtype, tensor.shape}});
  }
}

// The operators of a torch.export program, which is JSON in its archive.
void add_program_operators(std::string_view text, ModelFacts& facts) {
  const nlohmann::ordered_json json = parse_json(text);
  const nlohmann::ordered_json::json_pointer nodes("/graph_module/graph/nodes");
  if (json.is_discarded() || !json.contains(nodes) || !json[nodes].is_array()) return;
  for (const nlohmann::ordered_json& node : json[nodes]) {
    if (!node.is_object() || !node.contains("target") || !node["target"].is_string()) continue;
    Operator made;
    made.type = node["target"].get<std::string>();
    if (made.type.starts_with("torch.ops.")) made.type.erase(0, 10);
    facts.operators.push_back(std::move(made));
  }
}

void read_archive(const FileBytes& file, ModelFacts& facts) {
  const auto bytes = std::make_shared<const FileBytes>(file);
  facts.keep.push_back(bytes);
  const std::string_view text(reinterpret_cast<const char*>(bytes->bytes().data()),
                              bytes->bytes().size());
  const auto entries = read_zip(text);
  if (!entries) {
    facts.remarks.emplace_back("this model file is not an archive written by PyTorch");
    return;
  }
  for (const ZipEntry& entry : *entries) {
    if (ends_with(entry.name, ".py")) facts.code += std::string(entry.bytes) + "\n";
    if (ends_with(entry.name, "models/model.json")) add_program_operators(entry.bytes, facts);
    if (ends_with(entry.name, kTranslationRecord)) facts.translation = entry.bytes;
  }
  add_script_weights(*entries, facts);
}

// A C++ source, without the kernels in front of the model.
void read_source(const FileBytes& file, ModelFacts& facts) {
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  const std::size_t model = text.find("// ---- the model ----");
  facts.code = text.substr(model == std::string_view::npos ? 0 : model);
}

}  // namespace

ModelFacts read_facts(const Model& model, const std::filesystem::path& folder,
                      const BundleOptions& options) {
  ModelFacts facts;
  if (!model.file) {
    facts.remarks.emplace_back("this node has no model, so it cannot run");
    return facts;
  }
  try {
    const FileBytes file(resolve_file(folder, model.file->path, options));
    facts.file_bytes = file.bytes().size();
    if (model.backend == "onnx") {
      read_onnx(file, options, facts);
    } else if (model.backend == "cpp") {
      read_source(file, facts);
    } else {
      read_archive(file, facts);
    }
  } catch (const std::exception& error) {
    facts.remarks.emplace_back(error.what());
  }
  return facts;
}

}  // namespace leapp::view
