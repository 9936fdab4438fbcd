// Two checks: `require` for arguments of the caller, `demand` for our own code.
#pragma once

#include <string>

#include "leapp/error.h"

namespace leapp {

/// Throws an Error with that code unless the condition holds. To avoid the cost of a long message,
/// build it only on failure.
inline void require(bool condition, Code code, const std::string& message) {
  if (!condition) [[unlikely]]
    throw Error(code, message);
}

/// States a condition that always holds unless LEAPP has a bug.
inline void demand(bool condition, const char* what) {
  if (!condition) [[unlikely]] {
    throw Error(Code::kInternal, std::string("internal error in LEAPP, please report it: ") + what);
  }
}

}  // namespace leapp
