#include "bundle/field_reader.h"

#include "bundle/yaml_scalar.h"

namespace leapp {
namespace {

// Returns the path from `from` to `target`, which is found by its address. Slow; use it only for
// messages.
bool find_path(const YamlNode& from, const YamlNode& target, FieldPath& path) {
  if (&from == &target) return true;
  for (std::size_t i = 0; i < from.items.size(); ++i) {
    path.emplace_back(i);
    if (find_path(from.items[i], target, path)) return true;
    path.pop_back();
  }
  for (const YamlEntry& entry : from.entries) {
    path.emplace_back(entry.key.text);
    if (&entry.key == &target || find_path(entry.value, target, path)) return true;
    path.pop_back();
  }
  return false;
}

}  // namespace

void FieldReader::fail(Code code, const YamlNode& node, const std::string& what) const {
  FieldPath path;
  find_path(root_, node, path);
  throw Error(code, position(file_, node) + "[" + to_string(code) + "] " +
                        (path.empty() ? "" : to_string(path) + ": ") + what);
}

void FieldReader::expect_mapping(Code code, const YamlNode& node) const {
  if (node.kind != YamlNode::Kind::kMapping)
    fail(code, node, "expected a mapping, found " + describe(node));
}

void FieldReader::expect_list(Code code, const YamlNode& node) const {
  if (node.kind != YamlNode::Kind::kSequence)
    fail(code, node, "expected a list, found " + describe(node));
}

void FieldReader::check_keys(Code code, const YamlNode& node, const std::string& what,
                             std::initializer_list<const char*> keys) const {
  expect_mapping(code, node);
  for (const char* key : keys) {
    if (node.find(key)) continue;
    std::string list;
    for (const char* each : keys) list += (list.empty() ? "" : ", ") + std::string(each);
    fail(code, node,
         what + " must contain " + list + "; " + quote_for_message(key) + " is missing");
  }
}

std::string FieldReader::read_text(Code code, const YamlNode& node) const {
  if (node.kind != YamlNode::Kind::kScalar || node.is_null()) {
    fail(code, node, "expected text, found " + describe(node));
  }
  return node.text;
}

std::optional<std::string> FieldReader::read_optional_text(Code code, const YamlNode* node) const {
  if (!node || node->is_null()) return std::nullopt;
  return read_text(code, *node);
}

Metadata FieldReader::read_metadata(const YamlNode& node) const {
  if (node.kind == YamlNode::Kind::kScalar) return resolve_scalar(node);
  if (node.kind == YamlNode::Kind::kMapping) return {read_map(node)};
  Metadata::List list;
  list.reserve(node.items.size());
  for (const YamlNode& item : node.items) list.push_back(read_metadata(item));
  return {std::move(list)};
}

Metadata::Map FieldReader::read_map(const YamlNode& node) const {
  Metadata::Map map;
  map.reserve(node.entries.size());
  for (const YamlEntry& entry : node.entries) {
    map.push_back({entry.key.text, read_metadata(entry.value)});
  }
  return map;
}

std::int64_t FieldReader::read_integer(Code code, const YamlNode& node) const {
  const std::optional<std::int64_t> integer = resolve_integer(node);
  if (!integer) fail(code, node, "expected an integer, found " + describe(node));
  return *integer;
}

std::map<std::string, std::string> FieldReader::read_names(Code code, const YamlNode& node) const {
  expect_mapping(code, node);
  std::map<std::string, std::string> names;
  for (const YamlEntry& entry : node.entries) {
    names[entry.key.text] = read_text(code, entry.value);
  }
  return names;
}

}  // namespace leapp
