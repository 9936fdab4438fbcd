// exp, expm1, tanh and erf of floats, at most 2 units in the last place from the exact result, and
// sigmoid, at most 3: for every argument, including infinities and subnormal numbers (NaN stays
// NaN), with and without fused multiply-add. There are no branches and no calls, so compilers can
// vectorise the loops around them; the same code works on processors without vectors.
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

// Arguments are reduced by powers of two: x = n * log(2) + r. Adding this number rounds a float to
// an integer, which is then in its last bits.
constexpr float kRoundToInteger = 12582912.0f;

struct Reduced {
  std::int32_t n;
  float r;  // at most log(2) / 2 in magnitude
};

[[maybe_unused]] inline Reduced reduce_by_log2(float x) {
  const float shifted = x * 1.442695041f + kRoundToInteger;
  const float n = shifted - kRoundToInteger;
  // log(2) as a sum of two numbers; the first has so few bits that its product with n is exact.
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  return {std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRoundToInteger), r};
}

[[maybe_unused]] inline float power_of_two(std::int32_t n) {
  return std::bit_cast<float>((n + 127) << 23);
}

// exp(r) - 1 - r for a reduced r.
[[maybe_unused]] inline float exponential_rest(float r) {
  float p = 1.9845885e-4f;
  p = p * r + 1.3940721e-3f;
  p = p * r + 8.33339e-3f;
  p = p * r + 4.166636e-2f;
  p = p * r + 0.16666666f;
  p = p * r + 0.5f;
  return p * r * r;
}

[[maybe_unused]] inline float exp_of_float(float x) {
  // Beyond these limits the result is infinity or zero; NaN passes through both.
  const float below = x > 89.0f ? 89.0f : x;
  const float bounded = below < -104.0f ? -104.0f : below;
  const Reduced reduced = reduce_by_log2(bounded);
  // Compensates the rounding error of 1 + r, which would be too large for sigmoid.
  const float value = 1.0f + reduced.r;
  const float lost = (1.0f - value) + reduced.r;
  const float whole = value + (exponential_rest(reduced.r) + lost);
  // In two steps, because 2^n alone may be outside the range of a float when the result is not.
  const std::int32_t half = reduced.n >> 1;
  return whole * power_of_two(half) * power_of_two(reduced.n - half);
}

[[maybe_unused]] inline float expm1_of_float(float x) {
  const float below = x > 88.9f ? 88.9f : x;
  const float bounded = below < -60.0f ? -60.0f : below;
  const Reduced reduced = reduce_by_log2(bounded);
  const float rest = reduced.r + exponential_rest(reduced.r);
  // Half of 2^n * (1 + rest) - 1, since 2^128 is not a float.
  const float scale = power_of_two(reduced.n - 1);
  const float half = scale * rest + (scale - 0.5f);
  return half + half;
}

[[maybe_unused]] inline float magnitude(float x) {
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(x) & 0x7fffffff);
}

[[maybe_unused]] inline float with_sign_of(float size, float x) {
  const std::int32_t sign = std::bit_cast<std::int32_t>(x) & ~0x7fffffff;
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(size) | sign);
}

[[maybe_unused]] inline float tanh_of_float(float x) {
  const float size = magnitude(x);
  const float square = x * x;
  float small = -5.9058606e-3f;
  small = small * square + 2.0805378e-2f;
  small = small * square - 5.378668e-2f;
  small = small * square + 0.13331959f;
  small = small * square - 0.333333f;
  small = small * square * size + size;
  const float large = 1.0f - 2.0f / (exp_of_float(size + size) + 1.0f);
  return with_sign_of(size > 0.6f ? large : small, x);
}

[[maybe_unused]] inline float sigmoid_of_float(float x) {
  // Uses only the magnitude, so exp never overflows and small results keep their precision.
  const float e = exp_of_float(-magnitude(x));
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

[[maybe_unused]] inline float erf_of_float(float x) {
  const float size = magnitude(x);
  const float square = x * x;
  float small = 8.2154234e-5f;
  small = small * square - 8.105965e-4f;
  small = small * square + 5.197797e-3f;
  small = small * square - 2.6858104e-2f;
  small = small * square + 0.112836726f;
  small = small * square - 0.37612632f;
  small = small * square + 0.12837917f;
  small = small * size + size;
  // From 0.92 on, uses the logarithm of the distance to 1; from 3.93 on the distance is zero.
  const float bounded = size > 3.95f ? 3.95f : size;
  float missing = -1.9822067e-4f;
  missing = missing * bounded + 3.0654995e-3f;
  missing = missing * bounded - 2.2315247e-2f;
  missing = missing * bounded + 0.10411374f;
  missing = missing * bounded + 0.636976f;
  missing = missing * bounded + 1.1277972f;
  missing = missing * bounded + 1.6643932e-4f;
  const float large = 1.0f - exp_of_float(-missing);
  return with_sign_of(size > 0.92f ? large : small, x);
}

// Other types use the C library.
template <typename T>
inline T exp(T x) {
  if constexpr (std::is_same_v<T, float>)
    return exp_of_float(x);
  else
    return std::exp(x);
}

template <typename T>
inline T expm1(T x) {
  if constexpr (std::is_same_v<T, float>)
    return expm1_of_float(x);
  else
    return std::expm1(x);
}

template <typename T>
inline T tanh(T x) {
  if constexpr (std::is_same_v<T, float>)
    return tanh_of_float(x);
  else
    return std::tanh(x);
}

template <typename T>
inline T erf(T x) {
  if constexpr (std::is_same_v<T, float>)
    return erf_of_float(x);
  else
    return std::erf(x);
}
