// Text that goes in and out of files is UTF-8; these look at it byte by byte.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "leapp/visibility.h"

namespace leapp {

/// Returns the offset of the first byte that is not part of a valid UTF-8 sequence, or npos.
LEAPP_EXPORT std::size_t find_invalid_utf8(std::string_view text) noexcept;

/// Decodes the code point at `offset`, which must start a valid sequence, and moves past it.
LEAPP_EXPORT char32_t next_code_point(std::string_view text, std::size_t& offset) noexcept;

/// The longest text of an error or a warning.
inline constexpr std::size_t kMaxMessage = 8192;

/// Returns the text, or its beginning and its end if it is longer than kMaxMessage: a name out of a
/// file must not fill the console.
LEAPP_EXPORT std::string bounded_message(std::string text);

/// Does the same as printable() of leapp/log.h in place and without an allocation, with '?' for
/// each escaped byte.
LEAPP_EXPORT void make_printable(std::span<char> text) noexcept;

/// Returns 'text' for an error message: control characters escaped, cut after 80 characters.
LEAPP_EXPORT std::string quote_for_message(std::string_view text);

}  // namespace leapp
