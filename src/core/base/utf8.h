// Functions for UTF-8 text, byte by byte. All text in files is UTF-8.
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

/// The maximum length of an error or a warning.
inline constexpr std::size_t kMaxMessage = 8192;

/// Returns the text, or only its beginning and end if it is longer than kMaxMessage, so that a name
/// from a file cannot fill the console.
LEAPP_EXPORT std::string bounded_message(std::string text);

/// Escapes the text like printable() of leapp/log.h, but in place and without allocation, with '?'
/// for each escaped byte.
LEAPP_EXPORT void make_printable(std::span<char> text) noexcept;

/// Returns 'text' for an error message, with control characters escaped, truncated after 80
/// characters.
LEAPP_EXPORT std::string quote_for_message(std::string_view text);

}  // namespace leapp
