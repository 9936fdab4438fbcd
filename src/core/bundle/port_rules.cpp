#include "bundle/port_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <variant>

#include "base/utf8.h"
#include "leapp/log.h"

namespace leapp {
namespace {

std::string find_name_fault(std::string_view name) {
  constexpr std::size_t kMaxBytes = 200;
  if (name.empty()) return "a name must not be empty";
  if (name.size() > kMaxBytes) {
    return quote_for_message(name) + " is longer than " + std::to_string(kMaxBytes) + " bytes";
  }
  if (find_invalid_utf8(name) != std::string_view::npos) {
    return quote_for_message(name) + " is not valid UTF-8";
  }
  if (name.find_first_of("\n\t") != std::string_view::npos || printable(name) != name) {
    return quote_for_message(name) +
           " contains a control character, or a character that hides or reverses text";
  }
  return {};
}

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

bool is_nested_deeper_than(const Metadata& value, int levels) {
  const auto deeper = [&](const Metadata& child) {
    return levels == 0 || is_nested_deeper_than(child, levels - 1);
  };
  if (const auto* const list = std::get_if<Metadata::List>(&value.value)) {
    return std::any_of(list->begin(), list->end(), deeper);
  }
  if (const auto* const map = std::get_if<Metadata::Map>(&value.value)) {
    return std::any_of(map->begin(), map->end(),
                       [&](const auto& entry) { return deeper(entry.second); });
  }
  return false;
}

}  // namespace

std::string find_node_name_fault(std::string_view name) {  // B5
  if (name.find('/') != std::string_view::npos) {
    return "the node name " + quote_for_message(name) +
           " contains '/', which separates node and port; use another character";
  }
  return find_name_fault(name);
}

std::string find_port_name_fault(std::string_view name) {
  return find_name_fault(name);
}  // B5

std::string find_shape_fault(const Shape& shape, DType dtype) {  // B8
  constexpr std::size_t kMaxRank = 64;                           // PyTorch's and NumPy's own limit
  if (shape.size() > kMaxRank) {
    return "the shape has " + std::to_string(shape.size()) +
           " dimensions, more than the limit of " + std::to_string(kMaxRank);
  }
  for (const std::int64_t size : shape) {
    if (size < 0) return "the shape " + to_string(shape) + " has a negative size";
  }
  const auto count = checked_element_count(shape);
  std::int64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, static_cast<std::int64_t>(size_of(dtype)), &bytes)) {
    return "the shape " + to_string(shape) +
           " has too many elements (more than a 64-bit integer can count)";
  }
  return {};
}

std::string find_element_names_fault(const ElementNames& names, const Shape& shape) {  // B10
  const Shape dims = shape.empty() ? Shape{1} : shape;  // a scalar is one element
  if (names.size() > dims.size()) {
    return "element_names describes " + counted(names.size(), "dimension") + ", the shape " +
           to_string(shape) + " has " + std::to_string(shape.size());
  }
  const std::size_t first =
      dims.size() - names.size();  // a shorter list describes the last dimensions
  bool has_time = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (const auto* const words = std::get_if<std::vector<std::string>>(&names[i])) {
      const std::int64_t size = dims[first + i];
      if (static_cast<std::int64_t>(words->size()) != size) {
        return "element_names gives " + counted(words->size(), "name") + " for dimension " +
               std::to_string(first + i) + " of the shape " + to_string(shape) + ", which has " +
               std::to_string(size);
      }
    } else if (const auto* const axis = std::get_if<TemporalAxis>(&names[i])) {
      if (has_time) return "element_names can contain at most one TemporalAxis";
      if (!(axis->period_ms > 0) || std::isinf(axis->period_ms)) {
        return "the period of a TemporalAxis must be a positive number of milliseconds";
      }
      has_time = true;
    }
  }
  return {};
}

std::string find_extra_fault(const Metadata::Map& extra) {  // B11
  constexpr std::array<std::string_view, 7> kReserved = {
      "name", "dtype", "shape", "type", "kind", "element_names", "temporal_period_ms"};
  for (const auto& [key, value] : extra) {
    if (std::find(kReserved.begin(), kReserved.end(), key) != kReserved.end()) {
      return "extra must not overwrite " + quote_for_message(key) + "; rename the key";
    }
  }
  return find_metadata_fault(extra);
}

std::string find_metadata_fault(const Metadata::Map& map) {  // B11
  constexpr int kMaxLevels = 32;
  std::set<std::string_view> seen;
  for (const auto& [key, value] : map) {
    if (const std::string fault = find_name_fault(key); !fault.empty()) return fault;
    if (!seen.insert(key).second) return "the key " + quote_for_message(key) + " is given twice";
    if (is_nested_deeper_than(value, kMaxLevels)) {
      return "the value of " + quote_for_message(key) + " is nested deeper than " +
             std::to_string(kMaxLevels) + " levels";
    }
  }
  return {};
}

}  // namespace leapp
