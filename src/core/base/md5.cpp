#include "base/md5.h"

#include <bit>
#include <cstring>

namespace leapp {
namespace {

// RFC 1321: 2^32 times the absolute value of the sine of 1, 2, ... 64.
constexpr std::array<std::uint32_t, 64> kSines{
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

// Sixteen steps: `Mix` joins three words, `kFactor` and `kFirst` say which word of the block to
// use.
template <int kRound, unsigned kFactor, unsigned kFirst, typename Mix>
[[gnu::always_inline]] inline void md5_round(std::uint32_t (&s)[4],
                                             const std::uint32_t (&words)[16],
                                             const int (&shifts)[4], Mix mix) {
#pragma GCC unroll 16
  for (unsigned step = 0; step < 16; ++step) {
    const std::uint32_t sum = s[0] + mix(s[1], s[2], s[3]) + kSines[kRound * 16 + step] +
                              words[(kFactor * step + kFirst) % 16];
    s[0] = s[3];
    s[3] = s[2];
    s[2] = s[1];
    s[1] += std::rotl(sum, shifts[step % 4]);
  }
}

}  // namespace

void md5_blocks(std::uint32_t* state, const unsigned char* bytes, std::size_t blocks) {
  static_assert(std::endian::native == std::endian::little);
  for (; blocks > 0; --blocks, bytes += 64) {
    std::uint32_t words[16];
    std::memcpy(words, bytes, sizeof words);
    std::uint32_t s[4] = {state[0], state[1], state[2], state[3]};
    md5_round<0, 1, 0>(s, words, {7, 12, 17, 22},
                       [](auto b, auto c, auto d) { return d ^ (b & (c ^ d)); });
    md5_round<1, 5, 1>(s, words, {5, 9, 14, 20},
                       [](auto b, auto c, auto d) { return c ^ (d & (b ^ c)); });
    md5_round<2, 3, 5>(s, words, {4, 11, 16, 23}, [](auto b, auto c, auto d) { return b ^ c ^ d; });
    md5_round<3, 7, 0>(s, words, {6, 10, 15, 21},
                       [](auto b, auto c, auto d) { return c ^ (b | ~d); });
    for (int i = 0; i < 4; ++i) state[i] += s[i];
  }
}

}  // namespace leapp
