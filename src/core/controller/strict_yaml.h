// Reads values of a YAML file whose keys are all known. Errors begin with "file:line:column:".
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/yaml_tree.h"
#include "leapp/code.h"

namespace leapp {

/// Checked look-ups in one file. Keeps a reference to the file's name. Each function throws Error
/// with the code passed to the constructor.
class StrictYaml {
 public:
  StrictYaml(const std::string& file, Code code) : file_(file), code_(code) {}

  [[noreturn]] void fail(const YamlNode& node, const std::string& what) const;

  /// Throws unless the node is a mapping with no keys other than these.
  void expect_keys(const YamlNode& node, std::initializer_list<std::string_view> keys) const;

  double number(const YamlNode& node) const;
  /// Returns a finite number that is not negative.
  double duration(const YamlNode& node) const;
  /// Returns a string that is not empty.
  std::string text(const YamlNode& node) const;
  /// Returns a list of names without duplicates.
  std::vector<std::string> names(const YamlNode& node) const;

 private:
  const std::string& file_;
  Code code_;
};

}  // namespace leapp
