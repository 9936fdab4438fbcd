// MD5's compression function, for tools that still require this checksum. It protects nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace leapp {

inline constexpr std::array<std::uint32_t, 4> kMd5Start{0x67452301, 0xefcdab89, 0x98badcfe,
                                                        0x10325476};

/// Adds whole blocks of 64 bytes to the state.
void md5_blocks(std::uint32_t* state, const unsigned char* bytes, std::size_t blocks);

}  // namespace leapp
