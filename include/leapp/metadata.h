// Free-form metadata in a bundle's YAML: a small ordered tree of values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace leapp {

/// null, bool, integer, number, string, list or mapping. Mappings keep the order of their keys.
struct Metadata {
  using List = std::vector<Metadata>;
  struct Entry;
  using Map = std::vector<Entry>;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Map> value;

  bool operator==(const Metadata&) const = default;
};

/// A key and its value.
struct Metadata::Entry {
  std::string first;
  Metadata second;

  Entry() = default;
  Entry(std::string key, Metadata value) : first(std::move(key)), second(std::move(value)) {}
  bool operator==(const Entry&) const = default;
};

}  // namespace leapp
