#include "export/onnx/registry.h"

#include <algorithm>

namespace leapp::onnx_export {

const Converter* ConverterRegistry::find(const std::string& qualified_name) const {
  const auto found = converters_.find(qualified_name);
  return found == converters_.end() ? nullptr : &found->second;
}

std::vector<std::string> ConverterRegistry::names() const {
  std::vector<std::string> names;
  names.reserve(converters_.size());
  for (const auto& [name, converter] : converters_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

void register_all(ConverterRegistry& registry) {
  register_compare_logic(registry);
  register_creation(registry);
  register_elementwise(registry);
  register_indexing(registry);
  register_matmul(registry);
  register_reduce(registry);
  register_scatter(registry);
  register_shape(registry);
}

}  // namespace leapp::onnx_export
