// Returns the error that a function throws while the session's lock is held.
#pragma once

#include <optional>

#include "session/placed_error.h"

namespace leapp::session::testing {

/// Returns the error of `call`, or nothing.
template <typename Call>
std::optional<PlacedError> placed_error_of(const Call& call) {
  try {
    call();
  } catch (const PlacedError& error) {
    return error;
  }
  return std::nullopt;
}

/// Returns the code of that error, or nothing.
template <typename Call>
std::optional<Code> refused(const Call& call) {
  const auto error = placed_error_of(call);
  return error ? std::optional(error->code) : std::nullopt;
}

}  // namespace leapp::session::testing
