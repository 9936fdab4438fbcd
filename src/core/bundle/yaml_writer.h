// Writes YAML lines in the layout that all bundles use.
//
// yaml-cpp's emitter does not allow its callers to set the indentation of lists and the choice of
// quotes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "leapp/metadata.h"

namespace leapp {

/// Lines are appended in order; `indent` is the column of a line's key. Keys and strings are quoted
/// if needed; arguments named "yaml" are written unchanged.
class YamlWriter {
 public:
  std::string take() { return std::move(text_); }

  void blank_line() { text_ += '\n'; }

  /// Writes "key:"; its value follows in lines with a deeper indentation.
  void open(std::size_t indent, std::string_view key);

  /// Writes "key: yaml".
  void field(std::size_t indent, std::string_view key, std::string_view yaml);

  /// Writes "key: text".
  void text_field(std::size_t indent, std::string_view key, std::string_view text);

  /// Writes a value of any form, as blocks; only empty lists use flow style.
  void metadata_field(std::size_t indent, std::string_view key, const Metadata& value);

  /// Writes "key: [a, b]"; `write_item(item)` appends one item.
  template <typename List, typename WriteItem>
  void flow_field(std::size_t indent, std::string_view key, const List& list,
                  const WriteItem& write_item) {
    begin(indent, key) += ' ';
    flow(indent + 2, list, write_item);
    text_ += '\n';
  }

  /// Writes "[a, b]" at the end of the current line, and continues at `indent` on the next line
  /// after column 80.
  template <typename List, typename WriteItem>
  void flow(std::size_t indent, const List& list, const WriteItem& write_item) {
    text_ += '[';
    bool first = true;
    for (const auto& item : list) {
      separate(indent, first);
      first = false;
      write_item(item);
    }
    text_ += ']';
  }

  void append(std::string_view yaml) { text_ += yaml; }

  /// Marks the next field as the first of a list's item: its line starts with "- ".
  void start_item() { item_ = true; }

 private:
  std::string& begin(std::size_t indent, std::string_view key);
  void separate(std::size_t indent, bool first);
  void metadata_items(std::size_t indent, const Metadata::List& list);

  std::string text_;
  bool item_ = false;
};

}  // namespace leapp
