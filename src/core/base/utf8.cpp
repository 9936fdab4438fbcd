#include "base/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "leapp/log.h"

namespace leapp {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t offset) noexcept {
  return static_cast<std::uint8_t>(text[offset]);
}

/// Returns the length of the valid sequence at `offset`, or 0.
std::size_t sequence_length(std::string_view text, std::size_t offset) noexcept {
  const std::uint8_t lead = byte_at(text, offset);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || offset + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, offset + i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and code points past U+10FFFF can be detected from the second byte.
  const std::uint8_t second = byte_at(text, offset + 1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
      (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
    return 0;
  }
  return length;
}

/// Returns whether a code point is invisible and changes how the surrounding text is read: it
/// changes the direction (U+202E), breaks lines, or hides text. Joiners (U+200C, U+200D) are parts
/// of letters and allowed.
bool misleads(char32_t code) noexcept {
  return code == 0x061C || code == 0x180E || code == 0x200B || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) ||
         code == 0xFEFF || (code >= 0xFFF9 && code <= 0xFFFB) ||
         (code >= 0xE0000 && code <= 0xE007F);
}

/// Returns the length of a possible terminal command at `offset`, or 0.
std::size_t command_length(std::string_view text, std::size_t offset) noexcept {
  const std::uint8_t byte = byte_at(text, offset);
  if (byte == '\n' || byte == '\t') return 0;
  if (byte < 0x20 || byte == 0x7F) return 1;
  const std::size_t length = sequence_length(text, offset);
  if (length == 0) return 1;
  if (byte == 0xC2 && byte_at(text, offset + 1) < 0xA0) return length;
  std::size_t at = offset;
  return misleads(next_code_point(text, at)) ? length : 0;
}

/// Returns the largest offset up to `most` that does not split a valid UTF-8 sequence.
std::size_t whole_sequences(std::string_view text, std::size_t most) noexcept {
  while (most > 0 && most < text.size() && (byte_at(text, most) & 0xC0) == 0x80) --most;
  return most;
}

void append_escaped(std::string& to, std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    char escaped[5];
    std::snprintf(escaped, sizeof(escaped), "\\x%02X", byte_at(bytes, i));
    to += escaped;
  }
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) noexcept {
  std::size_t offset = 0;
  while (offset < text.size()) {
    const std::size_t length = sequence_length(text, offset);
    if (length == 0) return offset;
    offset += length;
  }
  return std::string_view::npos;
}

char32_t next_code_point(std::string_view text, std::size_t& offset) noexcept {
  const std::uint8_t lead = byte_at(text, offset++);
  if (lead < 0x80) return lead;
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  char32_t code = lead & (0x3FU >> more);
  for (int i = 0; i < more; ++i) code = (code << 6) | (byte_at(text, offset++) & 0x3FU);
  return code;
}

std::string printable(std::string_view text) {
  // The common case: every port name in every pass is such a string.
  const auto is_plain = [](char letter) { return letter >= ' ' && letter <= '~'; };
  if (std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string result;
  result.reserve(text.size());
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t command = command_length(text, offset);
    if (command > 0) {
      append_escaped(result, text.substr(offset, command));
      offset += command;
    } else {
      const std::size_t length = sequence_length(text, offset);
      result += text.substr(offset, length);
      offset += length;
    }
  }
  return result;
}

std::string bounded_message(std::string text) {
  if (text.size() <= kMaxMessage) return text;
  constexpr std::size_t kTail = kMaxMessage / 8;  // the end often says what to do
  const std::size_t head = whole_sequences(text, kMaxMessage - kTail);
  const std::size_t tail = whole_sequences(text, text.size() - kTail);
  return text.substr(0, head) + " [.. " + std::to_string(tail - head) +
         " characters left out ..] " + text.substr(tail);
}

void make_printable(std::span<char> text) noexcept {
  const std::string_view all(text.data(), text.size());
  for (std::size_t offset = 0; offset < all.size();) {
    const std::size_t command = command_length(all, offset);
    if (command == 0) {
      offset += sequence_length(all, offset);
      continue;
    }
    for (const std::size_t end = offset + command; offset < end; ++offset) text[offset] = '?';
  }
}

std::string quote_for_message(std::string_view text) {
  constexpr std::size_t kMaxLength = 80;
  std::string quoted = "'";
  std::size_t offset = 0;
  while (offset < text.size()) {
    if (quoted.size() > kMaxLength) return quoted + "'...";
    const std::size_t length = std::max<std::size_t>(sequence_length(text, offset), 1);
    if (byte_at(text, offset) < 0x20 || command_length(text, offset) > 0) {
      append_escaped(quoted, text.substr(offset, length));
    } else {
      quoted += text.substr(offset, length);
    }
    offset += length;
  }
  return quoted + "'";
}

}  // namespace leapp
