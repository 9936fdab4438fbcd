// A warning or a remark about a program, as data.
#pragma once

#include <string>
#include <vector>

#include "leapp/code.h"
#include "leapp/log.h"
#include "leapp/visibility.h"

namespace leapp {

struct Diagnostic {
  Code code = Code::kInternal;
  LogLevel level = LogLevel::kWarning;
  std::string where = {};  ///< "policy.py:42 in forward"; empty if there is no line
  std::string node = {};   ///< the affected node; may be empty
  std::string text = {};   ///< message without line and code
  /// True if this is a guess, and tracing another pass of the node would decide it.
  bool settled_by_another_pass = false;

  bool operator==(const Diagnostic&) const = default;
};

/// Returns "policy.py:42 in forward: ... [LP201]", as in the log.
LEAPP_EXPORT std::string to_string(const Diagnostic& diagnostic);

/// Returns a JSON document with all diagnostics, in order.
LEAPP_EXPORT std::string to_json(const std::vector<Diagnostic>& diagnostics);

}  // namespace leapp
