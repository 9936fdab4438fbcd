// One block at a time through the processor's SHA-256 instructions: each step computes four rounds
// and the four words of the schedule that they need. Selected at run time, so one build works on
// every processor.
#include "base/sha256.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <arm_neon.h>
#include <sys/auxv.h>
#endif

namespace leapp {
namespace {

#if defined(__x86_64__)

// The instructions need the state as (a b e f) and (c d g h), high words first.
[[gnu::target("sha,sse4.1,ssse3")]] void sha256_blocks_x86(std::uint32_t* state,
                                                           const unsigned char* bytes,
                                                           std::size_t blocks) {
  const auto at = [](auto* p, std::size_t i) { return reinterpret_cast<const __m128i*>(p) + i; };
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(at(state, 0)), 0xb1);
  const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(at(state, 1)), 0x1b);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8);
  __m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
  for (; blocks > 0; --blocks, bytes += 64) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    __m128i w[4];
    for (std::size_t i = 0; i < 4; ++i) {
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(at(bytes, i)), big_endian);
    }
#pragma GCC unroll 16
    for (std::size_t step = 0; step < 16; ++step) {
      __m128i& now = w[step % 4];
      if (step >= 4) {
        const __m128i last = w[(step + 3) % 4];
        const __m128i middle = _mm_alignr_epi8(last, w[(step + 2) % 4], 4);
        now = _mm_sha256msg2_epu32(
            _mm_add_epi32(_mm_sha256msg1_epu32(now, w[(step + 1) % 4]), middle), last);
      }
      const __m128i sum = _mm_add_epi32(now, _mm_loadu_si128(at(kSha256Rounds.data(), step)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  auto* to = reinterpret_cast<__m128i*>(state);
  _mm_storeu_si128(to, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(to + 1, _mm_alignr_epi8(dchg, feba, 8));
}

#elif defined(__aarch64__) && defined(__linux__)

[[gnu::target("+crypto")]] void sha256_blocks_arm(std::uint32_t* state, const unsigned char* bytes,
                                                  std::size_t blocks) {
  uint32x4_t abcd = vld1q_u32(state);
  uint32x4_t efgh = vld1q_u32(state + 4);
  for (; blocks > 0; --blocks, bytes += 64) {
    const uint32x4_t abcd_before = abcd;
    const uint32x4_t efgh_before = efgh;
    uint32x4_t w[4];
    for (std::size_t i = 0; i < 4; ++i) {
      w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(bytes + 16 * i)));
    }
#pragma GCC unroll 16
    for (std::size_t step = 0; step < 16; ++step) {
      uint32x4_t& now = w[step % 4];
      if (step >= 4) {
        now = vsha256su1q_u32(vsha256su0q_u32(now, w[(step + 1) % 4]), w[(step + 2) % 4],
                              w[(step + 3) % 4]);
      }
      const uint32x4_t sum = vaddq_u32(now, vld1q_u32(kSha256Rounds.data() + 4 * step));
      const uint32x4_t abcd_now = abcd;
      abcd = vsha256hq_u32(abcd, efgh, sum);
      efgh = vsha256h2q_u32(efgh, abcd_now, sum);
    }
    abcd = vaddq_u32(abcd, abcd_before);
    efgh = vaddq_u32(efgh, efgh_before);
  }
  vst1q_u32(state, abcd);
  vst1q_u32(state + 4, efgh);
}

#endif

}  // namespace

Sha256Blocks sha256_blocks_native() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool sse41 = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_1) != 0;
  const bool sha = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
  if (sse41 && sha) return sha256_blocks_x86;
#elif defined(__aarch64__) && defined(__linux__)
  if ((getauxval(AT_HWCAP) & HWCAP_SHA2) != 0) return sha256_blocks_arm;
#endif
  return nullptr;
}

}  // namespace leapp
