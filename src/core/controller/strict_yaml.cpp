#include "controller/strict_yaml.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/utf8.h"
#include "bundle/yaml_scalar.h"
#include "leapp/error.h"

namespace leapp {

using Kind = YamlNode::Kind;

void StrictYaml::fail(const YamlNode& node, const std::string& what) const {
  throw Error(code_, position(file_, node) + what);
}

void StrictYaml::expect_keys(const YamlNode& node,
                             std::initializer_list<std::string_view> keys) const {
  if (node.kind != Kind::kMapping) fail(node, "expected a mapping, found " + describe(node));
  for (const YamlEntry& entry : node.entries) {
    if (std::find(keys.begin(), keys.end(), entry.key.text) != keys.end()) continue;
    std::string known;
    for (const std::string_view key : keys) {
      known += (known.empty() ? "" : ", ") + std::string(key);
    }
    fail(entry.key, "there is no " + quote_for_message(entry.key.text) + "; there are: " + known);
  }
}

double StrictYaml::number(const YamlNode& node) const {
  const Metadata value = node.kind == Kind::kScalar ? resolve_scalar(node) : Metadata{};
  if (const auto* const integer = std::get_if<std::int64_t>(&value.value)) {
    return static_cast<double>(*integer);
  }
  if (const auto* const number = std::get_if<double>(&value.value)) return *number;
  fail(node, "expected a number, found " + describe(node));
}

double StrictYaml::duration(const YamlNode& node) const {
  const double seconds = number(node);
  constexpr double kMost = 1e9;  // 30 years, which fits into nanoseconds
  if (!(seconds >= 0 && seconds <= kMost)) {
    fail(node, "expected a number of seconds from 0 to 1e9, found " + describe(node));
  }
  return seconds;
}

std::string StrictYaml::text(const YamlNode& node) const {
  if (node.kind != Kind::kScalar || node.is_null() || node.text.empty()) {
    fail(node, "expected text, found " + describe(node));
  }
  return node.text;
}

std::vector<std::string> StrictYaml::names(const YamlNode& node) const {
  if (node.kind != Kind::kSequence) fail(node, "expected a list, found " + describe(node));
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const YamlNode& item : node.items) {
    names.push_back(text(item));
    if (!seen.insert(names.back()).second) {
      fail(item, quote_for_message(names.back()) + " appears twice");
    }
  }
  return names;
}

}  // namespace leapp
