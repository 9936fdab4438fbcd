#include "base/sha256.h"

#include <bit>
#include <cstring>

namespace leapp {
namespace {

using Words = std::array<std::uint32_t, 16>;

// Computes the sixteen words for the next sixteen rounds from the previous sixteen.
void sha256_extend(Words& w) {
  for (std::size_t i = 0; i < 16; ++i) {
    const std::uint32_t a = w[(i + 1) % 16];
    const std::uint32_t b = w[(i + 14) % 16];
    w[i] += (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + w[(i + 9) % 16] +
            (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
}

void sha256_rounds(std::array<std::uint32_t, 8>& s, const Words& w, std::size_t first) {
  for (std::size_t i = 0; i < 16; ++i) {
    const std::uint32_t sum = s[7] +
                              (std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25)) +
                              (s[6] ^ (s[4] & (s[5] ^ s[6]))) + kSha256Rounds[first + i] + w[i];
    const std::uint32_t other = (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) +
                                ((s[0] & s[1]) | (s[2] & (s[0] | s[1])));
    s = {sum + other, s[0], s[1], s[2], s[3] + sum, s[4], s[5], s[6]};
  }
}

}  // namespace

void sha256_blocks_plain(std::uint32_t* state, const unsigned char* bytes, std::size_t blocks) {
  for (; blocks > 0; --blocks, bytes += 64) {
    Words words;
    for (std::size_t i = 0; i < 16; ++i) {
      std::memcpy(&words[i], bytes + 4 * i, 4);
      words[i] = __builtin_bswap32(words[i]);
    }
    std::array<std::uint32_t, 8> s;
    std::memcpy(s.data(), state, sizeof s);
    for (std::size_t first = 0; first < 64; first += 16) {
      if (first > 0) sha256_extend(words);
      sha256_rounds(s, words, first);
    }
    for (std::size_t i = 0; i < 8; ++i) state[i] += s[i];
  }
}

}  // namespace leapp
