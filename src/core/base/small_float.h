// Floating-point numbers with 16 and 8 bits, which C++20 has no types for: their bits, and the
// conversions from and to float that all of LEAPP uses.
//
// widen() is exact. narrow() rounds once, to nearest even; a double is rounded to float first, as
// in PyTorch. A NaN keeps its sign, not its payload. A number that is too large becomes infinite,
// or in E4M3, which has no infinity, the largest number. Neither function depends on whether the
// processor flushes subnormal floats.
//
// Copied into generated C++, so it includes only the standard library.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace leapp {

/// The bits of a number with one sign bit, and its format.
template <typename BitsType, int kExponent, int kMantissa, bool kInfinity = true>
struct SmallFloat {
  using Bits = BitsType;
  static constexpr int kExponentBits = kExponent;
  static constexpr int kMantissaBits = kMantissa;
  static constexpr bool kHasInfinity = kInfinity;
  Bits bits;
};

/// IEEE binary16, PyTorch's float16.
using Half = SmallFloat<std::uint16_t, 5, 10>;
/// The upper half of a float.
using BFloat16 = SmallFloat<std::uint16_t, 8, 7>;
/// PyTorch's float8_e4m3fn: all ones is NaN, and there is no infinity.
using Float8E4M3 = SmallFloat<std::uint8_t, 4, 3, false>;
/// PyTorch's float8_e5m2: the upper half of a Half.
using Float8E5M2 = SmallFloat<std::uint8_t, 5, 2>;

/// True for the four types above.
template <typename T>
constexpr bool kIsSmallFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16> ||
                               std::is_same_v<T, Float8E4M3> || std::is_same_v<T, Float8E5M2>;

/// Bit patterns of a small float, placed as in a float of 32 bits.
template <typename T>
struct SmallFloatLayout {
  static constexpr int kShift =
      23 - T::kMantissaBits;  // shift from the magnitude to its position in a float
  static constexpr int kBits = T::kExponentBits + T::kMantissaBits;
  static constexpr std::uint32_t kMagnitude = (1U << kBits) - 1U;
  // The difference between the biases of the exponents.
  static constexpr std::uint32_t kBias = 127U - ((1U << (T::kExponentBits - 1)) - 1U);
  // The smallest magnitude that is infinite or NaN.
  static constexpr std::uint32_t kNotFinite =
      T::kHasInfinity ? ((1U << T::kExponentBits) - 1U) << T::kMantissaBits : kMagnitude;
  // The result for a number that is too large.
  static constexpr std::uint32_t kOverflow = T::kHasInfinity ? kNotFinite : kNotFinite - 1U;
  static constexpr std::uint32_t kNaN =
      T::kHasInfinity ? kNotFinite | (1U << (T::kMantissaBits - 1)) : kNotFinite;
};

/// Returns the number as a float. Has no branches, so that a loop over it runs in vector registers.
template <typename T>
[[maybe_unused]] constexpr float widen(T value) noexcept {
  static_assert(kIsSmallFloat<T>);
  using Layout = SmallFloatLayout<T>;
  const std::uint32_t magnitude = value.bits & Layout::kMagnitude;
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits >> Layout::kBits) << 31;
  const std::uint32_t bits = magnitude << Layout::kShift;
  std::uint32_t number = bits + (Layout::kBias << 23);
  if constexpr (Layout::kBias > 0) {
    // A subnormal number has no leading one, so one is added and subtracted again.
    const float leading = std::bit_cast<float>((Layout::kBias + 1U) << 23);
    const float with_leading = std::bit_cast<float>(bits + ((Layout::kBias + 1U) << 23));
    const auto subnormal = std::bit_cast<std::uint32_t>(with_leading - leading);
    number = bits < (1U << 23) ? subnormal : number;
  }
  number = magnitude >= Layout::kNotFinite ? bits | 0x7F800000U : number;
  return std::bit_cast<float>(number | sign);
}

/// Returns the nearest number of the type.
template <typename T>
[[maybe_unused]] constexpr T narrow(float value) noexcept {
  static_assert(kIsSmallFloat<T>);
  using Layout = SmallFloatLayout<T>;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  const std::uint32_t sign = (bits >> 31) << Layout::kBits;
  std::uint32_t rounded = 0;
  if (magnitude > 0x7F800000U) {
    rounded = Layout::kNaN;
  } else if (Layout::kBias > 0 && magnitude < ((Layout::kBias + 1U) << 23)) {
    // Subnormal: adding this number gives the last kept bit the weight one.
    constexpr std::uint32_t kLast =
        Layout::kBias > 0 ? (Layout::kBias + 1U + static_cast<std::uint32_t>(Layout::kShift)) << 23
                          : 0U;
    const float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(kLast);
    rounded = std::bit_cast<std::uint32_t>(sum) - kLast;
  } else {
    const std::uint32_t number = magnitude - (Layout::kBias << 23);
    const std::uint32_t last = (number >> Layout::kShift) & 1U;
    const std::uint32_t half = (1U << (Layout::kShift - 1)) - 1U;
    rounded = (number + half + last) >> Layout::kShift;
    if (rounded > Layout::kOverflow) rounded = Layout::kOverflow;
  }
  return {static_cast<typename T::Bits>(sign | rounded)};
}

}  // namespace leapp
