// An index along one dimension, as text for generated code: a sum of terms, each of which is a loop
// variable or another expression times a constant, and an offset.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace leapp::cpp_export {

class Index {
 public:
  Index() = default;
  Index(std::int64_t offset) : offset_(offset) {}  // NOLINT: a number is an index
  /// A variable, or an expression in parentheses.
  static Index of(std::string atom) {
    Index index;
    index.terms_.emplace_back(std::move(atom), 1);
    return index;
  }

  Index times(std::int64_t factor) const;
  Index plus(const Index& other) const;
  /// Returns text, for example "i0 * 12 + i1 + 3".
  std::string text() const;
  /// Returns text(), in parentheses unless it is a single word.
  std::string atom() const;
  bool is_number() const noexcept { return terms_.empty(); }
  std::int64_t offset() const noexcept { return offset_; }

 private:
  std::vector<std::pair<std::string, std::int64_t>> terms_;
  std::int64_t offset_ = 0;
};

using Indices = std::vector<Index>;

}  // namespace leapp::cpp_export
