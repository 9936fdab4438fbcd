// Free-form metadata that travels through a bundle's YAML: a small ordered value tree.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace leapp {

/// null, bool, integer, number, text, list or mapping. Mappings keep the order of their keys.
struct Metadata {
  using List = std::vector<Metadata>;
  using Map = std::vector<std::pair<std::string, Metadata>>;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Map> value;

  bool operator==(const Metadata&) const = default;
};

}  // namespace leapp
