// The one exception family of LEAPP.
//
// An `Error` says what happened, where, what was expected against what was found, and what to do
// next. Its kind decides which built-in Python exception the Python class also derives from, so
// that `except TypeError` and `except leapp.LeappError` both work.
#pragma once

#include <stdexcept>
#include <string>

#include "leapp/visibility.h"

namespace leapp {

enum class ErrorKind {
  kUsage,       ///< a call in the wrong order or state; Python: LeappError (an Exception)
  kType,        ///< an argument of the wrong type; Python: also a TypeError
  kValue,       ///< an argument, file or bundle with a wrong value; Python: also a ValueError
  kNotFound,    ///< a file that is not there; Python: also a FileNotFoundError
  kIo,          ///< reading or writing failed; Python: also an OSError
  kExport,      ///< a recorded operation that a backend cannot express
  kValidation,  ///< an exported model that disagrees with what was traced
  kInternal,    ///< a bug of ours
};

/// Thrown by every call that can fail, except the real-time ones, which return a Result.
class LEAPP_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace leapp
