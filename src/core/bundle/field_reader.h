// Reads fields of a YAML tree and checks their form.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>

#include "bundle/yaml_tree.h"
#include "leapp/bundle.h"
#include "leapp/code.h"

namespace leapp {

/// The readers throw Error with the given code, the position in the file and the path of the field.
class FieldReader {
 public:
  /// Keeps references to both, which must outlive it. `file` is the name for messages.
  FieldReader(const YamlNode& root, const std::string& file) : root_(root), file_(file) {}

  const YamlNode& root() const noexcept { return root_; }

  [[noreturn]] void fail(Code code, const YamlNode& node, const std::string& what) const;
  void expect_mapping(Code code, const YamlNode& node) const;
  void expect_list(Code code, const YamlNode& node) const;
  /// Checks that `node`, which the message calls `what`, is a mapping with these keys: B3, B6, B7.
  void check_keys(Code code, const YamlNode& node, const std::string& what,
                  std::initializer_list<const char*> keys) const;

  std::string read_text(Code code, const YamlNode& node) const;
  /// Returns nothing if the field is absent or null.
  std::optional<std::string> read_optional_text(Code code, const YamlNode* node) const;
  std::int64_t read_integer(Code code, const YamlNode& node) const;
  /// Reads a mapping from names to names.
  std::map<std::string, std::string> read_names(Code code, const YamlNode& node) const;
  /// Reads any YAML value as it is.
  Metadata read_metadata(const YamlNode& node) const;
  Metadata::Map read_map(const YamlNode& node) const;

 private:
  const YamlNode& root_;
  const std::string& file_;
};

}  // namespace leapp
