#include "import/yaml_fields.h"

#include <cmath>

#include "base/check.h"
#include "bundle/yaml_scalar.h"
#include "import/fields.h"

namespace leapp::importing {

YamlFields::YamlFields(const YamlNode& mapping, std::string file, std::string path)
    : mapping_(mapping), file_(std::move(file)), path_(std::move(path)) {
  if (mapping_.kind != YamlNode::Kind::kMapping) {
    fail(Code::kBadKey, mapping_,
         (path_.empty() ? "the file" : path_) + " is " + describe(mapping_) +
             ", expected a mapping");
  }
}

void YamlFields::fail(Code code, const YamlNode& at, const std::string& what) const {
  throw Error(code, position(file_, at) + what);
}

std::string YamlFields::path_of(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

const YamlNode* YamlFields::find(const std::string& key) const {
  const YamlNode* node = mapping_.find(key);
  return node == nullptr || node->is_null() ? nullptr : node;
}

const YamlNode& YamlFields::get(const std::string& key, const std::string& what) const {
  const YamlNode* node = find(key);
  if (node == nullptr) {
    fail(Code::kMissingKey, mapping_, "key '" + path_of(key) + "' is missing: give " + what);
  }
  return *node;
}

YamlFields YamlFields::mapping(const std::string& key, const std::string& what) const {
  return {get(key, what), file_, path_of(key)};
}

const std::vector<YamlNode>& YamlFields::list(const YamlNode& node, const std::string& what) const {
  if (node.kind != YamlNode::Kind::kSequence) {
    fail(Code::kBadKey, node, "found " + describe(node) + ", expected a list: " + what);
  }
  if (node.items.size() > kMaxList) {
    fail(Code::kBadKey, node,
         "the list has " + std::to_string(node.items.size()) + " values, but the limit is " +
             std::to_string(kMaxList));
  }
  return node.items;
}

double YamlFields::number_of(const YamlNode& node, const std::string& what) const {
  if (node.kind == YamlNode::Kind::kScalar) {
    const Metadata value = resolve_scalar(node);
    if (const auto* integer = std::get_if<std::int64_t>(&value.value)) {
      return static_cast<double>(*integer);
    }
    const auto* number = std::get_if<double>(&value.value);
    if (number != nullptr && is_finite_float(*number)) return *number;
  }
  fail(Code::kBadKey, node,
       "found " + describe(node) + ", expected a finite number that a float32 can hold: " + what);
}

std::vector<double> YamlFields::numbers_of(const YamlNode& node, const std::string& what) const {
  std::vector<double> values;
  for (const YamlNode& item : list(node, what)) values.push_back(number_of(item, what));
  return values;
}

std::vector<double> YamlFields::numbers(const std::string& key, const std::string& what) const {
  return numbers_of(get(key, what), path_of(key) + ", " + what);
}

std::vector<double> YamlFields::numbers(const std::string& key, const std::string& what,
                                        std::size_t count) const {
  const YamlNode& node = get(key, what);
  if (node.kind == YamlNode::Kind::kScalar) {
    return std::vector<double>(count, number_of(node, path_of(key) + ", " + what));
  }
  std::vector<double> values = numbers_of(node, path_of(key) + ", " + what);
  if (values.size() != count) {
    fail(Code::kBadKey, node,
         "'" + path_of(key) + "' has " + std::to_string(values.size()) + " values, expected " +
             std::to_string(count) + ": " + what);
  }
  return values;
}

std::vector<std::int64_t> YamlFields::integers(const std::string& key,
                                               const std::string& what) const {
  const YamlNode& node = get(key, what);
  std::vector<std::int64_t> values;
  for (const YamlNode& item : list(node, what)) {
    const std::optional<std::int64_t> value = resolve_integer(item);
    if (!value || *value < 0 || *value >= static_cast<std::int64_t>(kMaxList)) {
      fail(Code::kBadKey, item,
           "'" + path_of(key) + "' has " + describe(item) +
               ", expected whole numbers from 0: " + what);
    }
    values.push_back(*value);
  }
  return values;
}

std::vector<std::string> YamlFields::texts(const std::string& key, const std::string& what) const {
  const YamlNode& node = get(key, what);
  std::vector<std::string> values;
  for (const YamlNode& item : list(node, what)) {
    if (item.kind != YamlNode::Kind::kScalar || item.text.empty()) {
      fail(Code::kBadKey, item,
           "'" + path_of(key) + "' has " + describe(item) + ", expected names: " + what);
    }
    values.push_back(item.text);
  }
  return values;
}

double YamlFields::number(const std::string& key, const std::string& what) const {
  return number_of(get(key, what), path_of(key) + ", " + what);
}

bool YamlFields::flag(const std::string& key, bool otherwise) const {
  const YamlNode* node = find(key);
  if (node == nullptr) return otherwise;
  if (node->kind == YamlNode::Kind::kScalar) {
    const Metadata resolved = resolve_scalar(*node);
    if (const auto* value = std::get_if<bool>(&resolved.value)) return *value;
  }
  fail(Code::kBadKey, *node,
       "'" + path_of(key) + "' is " + describe(*node) + ", expected true or false");
}

}  // namespace leapp::importing
