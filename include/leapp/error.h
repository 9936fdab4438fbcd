// The exception class of LEAPP.
//
// The message of an `Error` states what happened, where, what was expected and found, and what to
// do. Programs distinguish errors by code(). The code determines the kind, and the kind determines
// from which built-in Python exception the Python class also derives, so that `except TypeError`
// and `except leapp.LeappError` both work.
#pragma once

#include <stdexcept>
#include <string>

#include "leapp/code.h"
#include "leapp/visibility.h"

namespace leapp {

/// Thrown by every call that can fail, except the real-time ones, which return a Result.
class LEAPP_EXPORT Error : public std::runtime_error {
 public:
  /// Creates an error. what() ends with the code, "... [LP104]"; for a rule of the bundle format,
  /// the label is in front of the field name.
  Error(Code code, const std::string& text);

  Code code() const noexcept { return code_; }
  ErrorKind kind() const noexcept { return kind_of(code_); }
  /// Returns the message without the code at its end.
  std::string text() const;

  /// Returns a copy with `context` prepended to the message.
  Error behind(const std::string& place) const { return Error(code_, place + text()); }

 private:
  Code code_;
};

}  // namespace leapp
