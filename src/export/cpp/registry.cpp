#include "export/cpp/registry.h"

#include <algorithm>

namespace leapp::cpp_export {

const Generator* GeneratorRegistry::find(const std::string& qualified_name) const {
  const auto found = generators_.find(qualified_name);
  return found == generators_.end() ? nullptr : &found->second;
}

std::vector<std::string> GeneratorRegistry::names() const {
  std::vector<std::string> names;
  for (const auto& [name, generator] : generators_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

const GeneratorRegistry& registry() {
  static const GeneratorRegistry* const kRegistry = [] {
    auto* all = new GeneratorRegistry();
    register_arithmetic(*all);
    register_attention(*all);
    register_convolution(*all);
    register_creation(*all);
    register_cumulative(*all);
    register_indexing(*all);
    register_linalg(*all);
    register_loss(*all);
    register_matmul(*all);
    register_normalization(*all);
    register_padding(*all);
    register_pointwise(*all);
    register_pooling(*all);
    register_recurrent(*all);
    register_reduce(*all);
    register_resize(*all);
    register_scatter(*all);
    register_search(*all);
    register_shape(*all);
    return all;
  }();
  return *kRegistry;
}

}  // namespace leapp::cpp_export
