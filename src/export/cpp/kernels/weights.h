// Storage formats of weights: the numbers themselves, bfloat16 (the upper half of a float), or int8
// with a scale per output.
#include <bit>
#include <cstdint>

#include "base/small_float.h"
#include "vectors.h"

using leapp::BFloat16;

template <typename T>
inline T number(T weight) {
  return weight;
}
[[maybe_unused]] inline float number(BFloat16 weight) {
  return leapp::widen(weight);
}
[[maybe_unused]] inline float number(std::int8_t weight) {
  return static_cast<float>(weight);
}

#ifdef LEAPP_VECTOR_BYTES
// Small weights are packed so that one load fills several vectors: those of the same lane are in
// one word, and shifts extract them. This needs fewer instructions than widening.
typedef std::uint32_t Words __attribute__((vector_size(LEAPP_VECTOR_BYTES)));
typedef std::int32_t Integers __attribute__((vector_size(LEAPP_VECTOR_BYTES)));

template <typename W>
constexpr std::ptrdiff_t kVectorsPerLoad = sizeof(float) / sizeof(W);

[[maybe_unused]] inline void unpack(const float* from, Vector* to) {
  *to = load(from);
}
[[maybe_unused]] inline void unpack(const BFloat16* from, Vector* to) {
  Words words;
  std::memcpy(&words, from, sizeof(words));
  to[0] = std::bit_cast<Vector>(words << 16);
  to[1] = std::bit_cast<Vector>(words & 0xffff0000u);
}
[[maybe_unused]] inline void unpack(const std::int8_t* from, Vector* to) {
  Integers words;
  std::memcpy(&words, from, sizeof(words));
  to[0] = __builtin_convertvector((words << 24) >> 24, Vector);
  to[1] = __builtin_convertvector((words << 16) >> 24, Vector);
  to[2] = __builtin_convertvector((words << 8) >> 24, Vector);
  to[3] = __builtin_convertvector(words >> 24, Vector);
}
#endif
