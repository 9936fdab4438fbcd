// Constants and functions for writing and reading MCAP files: magic, opcodes, little-endian
// numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace leapp::mcap {

inline constexpr std::string_view kMagic("\x89MCAP0\r\n", 8);
inline constexpr int kHeader = 0x01, kFooter = 0x02, kSchema = 0x03, kChannel = 0x04,
                     kMessage = 0x05, kChunk = 0x06, kMessageIndex = 0x07, kChunkIndex = 0x08,
                     kStatistics = 0x0B, kDataEnd = 0x0F;

static_assert(std::endian::native == std::endian::little, "MCAP is little-endian");

template <typename T>
void append(std::string& to, T number) {
  const auto at = to.size();
  to.resize(at + sizeof number);
  std::memcpy(to.data() + at, &number, sizeof number);
}

inline void append_text(std::string& to, std::string_view text) {
  append(to, static_cast<std::uint32_t>(text.size()));
  to += text;
}

inline void append_record(std::string& to, int opcode, std::string_view content) {
  to += static_cast<char>(opcode);
  append(to, static_cast<std::uint64_t>(content.size()));
  to += content;
}

}  // namespace leapp::mcap
