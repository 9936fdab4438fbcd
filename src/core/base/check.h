// Two checks with two meanings: `require` is for what a caller gave us, `demand` for our own bugs.
#pragma once

#include <string>

#include "leapp/error.h"

namespace leapp {

/// Throws an Error with that code unless the condition holds. Build long messages only on failure.
inline void require(bool condition, Code code, const std::string& message) {
  if (!condition) [[unlikely]]
    throw Error(code, message);
}

/// States what must be true if LEAPP itself is right.
inline void demand(bool condition, const char* what) {
  if (!condition) [[unlikely]] {
    throw Error(Code::kInternal, std::string("internal error in LEAPP, please report it: ") + what);
  }
}

}  // namespace leapp
