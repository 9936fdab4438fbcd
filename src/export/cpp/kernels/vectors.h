// Vectors of floats as wide as the processor's registers, by the vector extensions of GCC and
// Clang: one source for AVX-512, AVX, SSE and NEON. Without vectors (a microcontroller)
// LEAPP_VECTOR_BYTES stays undefined, and the plain kernels are used.
#include <cstddef>
#include <cstring>

#if defined(__AVX512F__)
#define LEAPP_VECTOR_BYTES 64
#elif defined(__AVX__)
#define LEAPP_VECTOR_BYTES 32
#elif defined(__SSE2__) || defined(__ARM_NEON)
#define LEAPP_VECTOR_BYTES 16
#endif

#ifdef LEAPP_VECTOR_BYTES
typedef float Vector __attribute__((vector_size(LEAPP_VECTOR_BYTES)));
constexpr std::ptrdiff_t kLanes = LEAPP_VECTOR_BYTES / sizeof(float);

[[maybe_unused]] inline Vector load(const float* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}
[[maybe_unused]] inline void store(float* to, Vector vector) {
  std::memcpy(to, &vector, sizeof(vector));
}
#endif
