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
    register_linear(*all);
    register_pointwise(*all);
    return all;
  }();
  return *kRegistry;
}

}  // namespace leapp::cpp_export
