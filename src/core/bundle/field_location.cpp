#include "bundle/field_location.h"

#include "base/input_file.h"
#include "leapp/bundle.h"

namespace leapp {

const YamlNode& find_node(const YamlNode& root, const FieldPath& path) {
  const YamlNode* at = &root;
  for (const auto& step : path) {
    const YamlNode* next = nullptr;
    if (const auto* const index = std::get_if<std::size_t>(&step)) {
      if (*index < at->items.size()) next = &at->items[*index];
    } else {
      next = at->find(std::get<std::string>(step));
    }
    if (!next) break;
    at = next;
  }
  return *at;
}

std::string locate_field(const std::filesystem::path& yaml, const FieldPath& path) {
  if (yaml.empty()) return {};
  const std::string name = yaml.string();
  try {
    const std::string text = read_file(yaml, BundleOptions{}.max_file_bytes);
    return position(name, find_node(parse_yaml(text, name), path));
  } catch (const Error&) {
    return name + ": ";  // the file has changed since it was read
  }
}

}  // namespace leapp
