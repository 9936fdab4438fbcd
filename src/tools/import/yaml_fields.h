// Values of a mapping in a YAML file, with their position in every error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bundle/yaml_tree.h"
#include "leapp/code.h"

namespace leapp::importing {

/// Reads the keys of one mapping, which must outlive it. Errors are LP822 for a missing key and
/// LP823 for an invalid value; they begin with "file:line:column:".
class YamlFields {
 public:
  /// Creates the fields. `path` names the mapping in errors, "actions.JointPositionAction"; "" is
  /// the whole file.
  YamlFields(const YamlNode& mapping, std::string file, std::string path = "");

  const YamlNode& node() const noexcept { return mapping_; }
  /// Returns the value, or null if the key is missing or null.
  const YamlNode* find(const std::string& key) const;
  /// Returns the value. `what` describes it for the error of a missing key.
  const YamlNode& get(const std::string& key, const std::string& what) const;
  YamlFields mapping(const std::string& key, const std::string& what) const;
  std::vector<double> numbers(const std::string& key, const std::string& what) const;
  /// Returns a list of `count` numbers, or one number for all.
  std::vector<double> numbers(const std::string& key, const std::string& what,
                              std::size_t count) const;
  std::vector<std::int64_t> integers(const std::string& key, const std::string& what) const;
  std::vector<std::string> texts(const std::string& key, const std::string& what) const;
  double number(const std::string& key, const std::string& what) const;
  bool flag(const std::string& key, bool otherwise) const;

  std::vector<double> numbers_of(const YamlNode& node, const std::string& what) const;
  [[noreturn]] void fail(Code code, const YamlNode& at, const std::string& what) const;
  /// Returns the path of a key: "actions.scale".
  std::string path_of(const std::string& key) const;

 private:
  double number_of(const YamlNode& node, const std::string& what) const;
  const std::vector<YamlNode>& list(const YamlNode& node, const std::string& what) const;

  const YamlNode& mapping_;
  std::string file_;
  std::string path_;
};

}  // namespace leapp::importing
