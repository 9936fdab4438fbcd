// A YAML document as a tree with the position of every value.
//
// Built from yaml-cpp's events rather than its own nodes: hostile input is refused while it is
// read, before it uses memory, and visiting all nodes of a document takes linear time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/error.h"
#include "leapp/visibility.h"

namespace leapp {

struct YamlEntry;

/// A scalar, a sequence or a mapping. Children are owned.
struct LEAPP_EXPORT YamlNode {
  enum class Kind { kScalar, kSequence, kMapping };

  Kind kind = Kind::kScalar;
  bool quoted = false;             ///< a quoted scalar is always text
  int line = 1;                    ///< from 1
  int column = 1;                  ///< from 1
  std::string text;                ///< of a scalar
  std::vector<YamlNode> items;     ///< items of a sequence
  std::vector<YamlEntry> entries;  ///< entries of a mapping, in the order of the file

  bool is_null() const noexcept;
  /// Returns the value of that key in a mapping, or null. Takes linear time.
  const YamlNode* find(std::string_view key) const noexcept;
};

struct YamlEntry {
  YamlNode key;
  YamlNode value;
};

/// Returns "mapping", "list" or the quoted scalar, for error messages.
LEAPP_EXPORT std::string describe(const YamlNode& node);

/// Returns "file:line:column: ".
LEAPP_EXPORT std::string position(const std::string& file, const YamlNode& node);

/// Limits of a document; a node takes about 100 bytes.
struct YamlLimits {
  std::size_t max_depth = 64;
  std::size_t max_nodes = 2'000'000;
  std::size_t max_lookahead = std::size_t{2} << 20;  ///< bytes of one string or "[..]"
};

/// Parses one document; aliases become copies, which count against the limits. Throws
/// Error(kValue), beginning "file:line:column:", on malformed YAML, repeated or non-scalar keys,
/// merged mappings, a second document, text that is not UTF-8, and past the limits.
LEAPP_EXPORT YamlNode parse_yaml(std::string_view text, const std::string& file,
                                 const YamlLimits& limits = {});

}  // namespace leapp
