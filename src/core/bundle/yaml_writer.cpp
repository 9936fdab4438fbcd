#include "bundle/yaml_writer.h"

#include <cstdint>
#include <variant>

#include "bundle/yaml_scalar.h"

namespace leapp {
namespace {

/// Returns a scalar, or an empty list or mapping.
std::string write_leaf(const Metadata& value) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "null"; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t integer) const { return std::to_string(integer); }
    std::string operator()(double number) const { return write_number(number); }
    std::string operator()(const std::string& text) const { return write_text(text); }
    std::string operator()(const Metadata::List&) const { return "[]"; }
    std::string operator()(const Metadata::Map&) const { return "{}"; }
  };
  return std::visit(Visitor{}, value.value);
}

}  // namespace

void YamlWriter::open(std::size_t indent, std::string_view key) {
  begin(indent, key) += '\n';
}

void YamlWriter::field(std::size_t indent, std::string_view key, std::string_view yaml) {
  begin(indent, key).append(" ").append(yaml) += '\n';
}

void YamlWriter::text_field(std::size_t indent, std::string_view key, std::string_view text) {
  field(indent, key, write_text(text));
}

void YamlWriter::metadata_field(std::size_t indent, std::string_view key, const Metadata& value) {
  begin(indent, key);
  const auto* const list = std::get_if<Metadata::List>(&value.value);
  const auto* const map = std::get_if<Metadata::Map>(&value.value);
  if (list && !list->empty()) {
    text_ += '\n';
    metadata_items(indent, *list);
  } else if (map && !map->empty()) {
    text_ += '\n';
    for (const auto& [inner, child] : *map) metadata_field(indent + 2, inner, child);
  } else {
    text_.append(" ").append(write_leaf(value)) += '\n';
  }
}

std::string& YamlWriter::begin(std::size_t indent, std::string_view key) {
  if (item_) {
    text_.append(indent - 2, ' ') += "- ";
  } else {
    text_.append(indent, ' ');
  }
  item_ = false;
  return text_.append(write_text(key)) += ':';
}

void YamlWriter::separate(std::size_t indent, bool first) {
  constexpr std::size_t kWidth = 80;
  if (!first) text_ += ',';
  const std::size_t column = text_.size() - (text_.rfind('\n') + 1);
  if (column > kWidth) {
    text_.append("\n").append(indent, ' ');
  } else if (!first) {
    text_ += ' ';
  }
}

void YamlWriter::metadata_items(std::size_t indent, const Metadata::List& list) {
  for (const Metadata& item : list) {
    const auto* const inner = std::get_if<Metadata::List>(&item.value);
    const auto* const map = std::get_if<Metadata::Map>(&item.value);
    if (map && !map->empty()) {
      start_item();
      for (const auto& [key, value] : *map) metadata_field(indent + 2, key, value);
    } else if (inner && !inner->empty()) {
      text_.append(indent, ' ') += "-\n";
      metadata_items(indent + 2, *inner);
    } else {
      text_.append(indent, ' ').append("- ").append(write_leaf(item)) += '\n';
    }
  }
}

}  // namespace leapp
