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
  std::string where = {};  ///< "policy.py:42 in forward"; empty where no line is to blame
  std::string node = {};   ///< the node it is about; may be empty
  std::string text = {};   ///< what happened and what to do, without place and code
  /// It is a guess that tracing another pass of the node would settle.
  bool settled_by_another_pass = false;

  bool operator==(const Diagnostic&) const = default;
};

/// Returns "policy.py:42 in forward: ... [LP201]", as the log has it.
LEAPP_EXPORT std::string to_string(const Diagnostic& diagnostic);

/// Returns a JSON document with everything, in order.
LEAPP_EXPORT std::string to_json(const std::vector<Diagnostic>& diagnostics);

}  // namespace leapp
