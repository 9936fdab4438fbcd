#include "bundle/former_export.h"

#include "base/input_file.h"
#include "bundle/rules.h"
#include "bundle/yaml_tree.h"

namespace leapp {
namespace {

namespace fs = std::filesystem;

void add_path(std::set<fs::path>& files, const YamlNode* node) {
  if (!node || node->kind != YamlNode::Kind::kScalar || node->is_null()) return;
  if (find_path_fault(node->text, {}).empty()) {
    files.insert(fs::path(node->text).lexically_normal());
  }
}

void add_model_files(std::set<fs::path>& files, const YamlNode& model) {
  const YamlNode* const parameters = model.find("parameters");
  if (!parameters) return;
  const YamlNode* const path = parameters->find("model_path");
  add_path(files, path);
  // Other writers do not list the external data of an ONNX model.
  if (path && path->text.ends_with(".onnx")) {
    YamlNode data = *path;
    data.text += ".data";
    add_path(files, &data);
  }
  if (const YamlNode* const external = parameters->find("external_data")) {
    for (const YamlNode& item : external->items) add_path(files, item.find("path"));
  }
}

}  // namespace

std::set<std::filesystem::path> list_named_files(const std::filesystem::path& folder,
                                                 const std::string& name) {
  std::set<fs::path> files;
  const fs::path yaml = folder / (name + ".yaml");
  try {
    const std::string text = read_file(yaml, BundleOptions{}.max_file_bytes);
    // Only the paths matter here: a bundle that breaks a rule still names its own files.
    const YamlNode root = parse_yaml(text, yaml.string());
    if (const YamlNode* const models = root.find("models")) {
      for (const YamlEntry& model : models->entries) add_model_files(files, model.value);
    }
    if (const YamlNode* const pipeline = root.find("pipeline")) {
      add_path(files, pipeline->find("initial_values"));
      add_path(files, pipeline->find("golden"));
    }
  } catch (const Error&) {
    files.clear();
  }
  return files;
}

std::set<std::filesystem::path> list_export_files(const std::filesystem::path& folder,
                                                  const std::string& name) {
  std::set<fs::path> files = list_named_files(folder, name);
  for (const char* ending :
       {".yaml", ".png", ".svg", "_initial_values.safetensors", "_golden.safetensors"}) {
    files.insert(name + ending);
  }
  files.insert("validation.json");  // B34
  return files;
}

}  // namespace leapp
