// The one exception family of LEAPP.
//
// An `Error` says what happened, where, what was expected against what was found, and what to do
// next. Programs tell errors apart by code(). The kind that follows from it decides which built-in
// Python exception the Python class also derives from, so that `except TypeError` and
// `except leapp.LeappError` both work.
#pragma once

#include <stdexcept>
#include <string>

#include "leapp/code.h"
#include "leapp/visibility.h"

namespace leapp {

/// Thrown by every call that can fail, except the real-time ones, which return a Result.
class LEAPP_EXPORT Error : public std::runtime_error {
 public:
  /// Creates an error. what() ends with the code, "... [LP104]"; for a rule of the bundle format
  /// the label precedes the field.
  Error(Code code, const std::string& text);

  Code code() const noexcept { return code_; }
  ErrorKind kind() const noexcept { return kind_of(code_); }
  /// Returns the message without the code at its end.
  std::string text() const;

  /// Does the same error with more said in front of it.
  Error behind(const std::string& place) const { return Error(code_, place + text()); }

 private:
  Code code_;
};

}  // namespace leapp
