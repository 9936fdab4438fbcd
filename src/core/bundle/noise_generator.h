// The arithmetic of rule B45, for the runtime and for the sources that `leapp build --source`
// writes: it is copied there. bundle/noise.h has the manual.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace leapp::noise_generator {

inline constexpr int kBits = 24;
inline constexpr double kLn2 = 0.6931471805599453;
inline constexpr double kSqrt2 = 1.4142135623730951;

/// Coefficients of atanh(s) / s as a polynomial of s * s, highest power first.
inline constexpr std::array kAtanh = {1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0};

// M. Giles, "Approximating the erfinv function", 2010: erfinv(t) / t as polynomials of w - 2.5 and
// of sqrt(w) - 3, where w = -log(1 - t * t).
inline constexpr std::array kCentre = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                       -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                       -0.00417768164,  0.246640727,    1.50140941};
inline constexpr std::array kTail = {-0.000200214257, 0.000100950558, 0.00134934322,
                                     -0.00367342844,  0.00573950773,  -0.0076224613,
                                     0.00943887047,   1.00167406,     2.83297682};

template <std::size_t N>
inline double evaluate(const std::array<double, N>& coefficients, double x) noexcept {
  double sum = coefficients[0];
  for (std::size_t i = 1; i < N; ++i) sum = std::fma(sum, x, coefficients[i]);
  return sum;
}

/// Returns the natural logarithm of a positive normal number.
inline double log_of(double x) noexcept {
  constexpr int kMantissaBits = 52;
  constexpr std::uint64_t kMantissa = (std::uint64_t{1} << kMantissaBits) - 1;
  constexpr std::uint64_t kHalf = 1022;  // the biased exponent of [0.5, 1)
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<double>(static_cast<std::int64_t>(bits >> kMantissaBits) -
                                      static_cast<std::int64_t>(kHalf));
  auto m = std::bit_cast<double>((bits & kMantissa) | (kHalf << kMantissaBits));
  if (m < 0.75) {
    m *= 2;
    exponent -= 1;
  }
  const double s = (m - 1) / (m + 1);
  return std::fma(exponent, kLn2, 2 * s * evaluate(kAtanh, s * s));
}

inline float uniform_from(std::uint32_t word) noexcept {
  return static_cast<float>(word >> (32 - kBits)) * 0x1p-24F;
}

/// Returns the inverse of the normal distribution function at (2k + 1) / 2^25.
inline float normal_from(std::uint32_t word) noexcept {
  const std::int64_t odd = 2 * static_cast<std::int64_t>(word >> (32 - kBits)) + 1;
  const double t = static_cast<double>(odd - (std::int64_t{1} << kBits)) * 0x1p-24;
  const double w = -log_of(static_cast<double>(((std::int64_t{2} << kBits) - odd) * odd) * 0x1p-48);
  const double ratio = w < 5 ? evaluate(kCentre, w - 2.5) : evaluate(kTail, std::sqrt(w) - 3);
  return static_cast<float>(kSqrt2 * t * ratio);
}

/// Returns -log((2k + 1) / 2^25).
inline float exponential_from(std::uint32_t word) noexcept {
  const std::int64_t odd = 2 * static_cast<std::int64_t>(word >> (32 - kBits)) + 1;
  return static_cast<float>(-log_of(static_cast<double>(odd) * 0x1p-25));
}

inline std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                                  std::array<std::uint32_t, 2> key) noexcept {
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t second = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(second >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(second),
               static_cast<std::uint32_t>(first >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(first)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// Writes the numbers that `number_from` computes from the random words.
template <typename NumberFrom>
void fill(NumberFrom number_from, std::uint64_t seed, std::uint32_t port, std::uint64_t number,
          std::span<float> elements) noexcept {
  constexpr std::size_t kWords = 4;
  const std::array<std::uint32_t, 2> key = {static_cast<std::uint32_t>(seed),
                                            static_cast<std::uint32_t>(seed >> 32)};
  for (std::size_t i = 0; i < elements.size(); i += kWords) {
    const std::array<std::uint32_t, kWords> words = philox4x32_10(
        {static_cast<std::uint32_t>(i / kWords), port, static_cast<std::uint32_t>(number),
         static_cast<std::uint32_t>(number >> 32)},
        key);
    const std::size_t count = std::min(kWords, elements.size() - i);
    for (std::size_t j = 0; j < count; ++j) {
      elements[i + j] = number_from(words[j]);
    }
  }
}

}  // namespace leapp::noise_generator
