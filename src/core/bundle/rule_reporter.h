// Messages about a broken rule: position in the file, rule, field, fault.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "leapp/error.h"

namespace leapp {

/// Keys and list indices from the root of the YAML to a field.
using FieldPath = std::vector<std::variant<std::string, std::size_t>>;

/// Returns "models.policy.inputs[0].dtype".
std::string to_string(const FieldPath& path);

/// Throws or logs broken rules. Cheap to copy as long as no rule is broken.
class RuleReporter {
 public:
  /// Creates a reporter. `locate` returns the start of a message: "walker.yaml:12:7: ", or an empty
  /// string.
  explicit RuleReporter(std::function<std::string(const FieldPath&)> locate)
      : locate_(std::move(locate)) {}

  /// Returns "walker.yaml:12:7: [B7] models.policy.inputs[0].dtype: what".
  std::string message(Code code, const FieldPath& path, std::string_view what) const;

  [[noreturn]] void fail(Code code, const FieldPath& path, std::string_view what) const {
    throw Error(code, message(code, path, what));
  }

 private:
  std::function<std::string(const FieldPath&)> locate_;
};

}  // namespace leapp
