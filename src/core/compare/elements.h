// Elements of any type as numbers one can compare.
#pragma once

#include <bit>
#include <complex>
#include <cstdint>
#include <limits>

#include "base/check.h"
#include "leapp/dtype.h"

namespace leapp::validate {

// Storage types for what C++20 has no type of its own; one bit pattern each.
struct Half {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};
struct Float8E4M3 {
  std::uint8_t bits;
};
struct Float8E5M2 {
  std::uint8_t bits;
};
struct Bool {
  std::uint8_t bits;
};

inline double to_number(float value) noexcept {
  return static_cast<double>(value);
}
inline double to_number(double value) noexcept {
  return value;
}
inline std::complex<double> to_number(std::complex<float> value) noexcept {
  return value;
}
inline std::complex<double> to_number(std::complex<double> value) noexcept {
  return value;
}

inline float to_number(BFloat16 value) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

/// Converts without branches, so that a loop over it runs in vector registers. Read as the upper
/// bits of a float, a half is too small by 2^112, subnormal numbers included; infinity and NaN
/// become 65536 and more.
inline float to_number(Half value) noexcept {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(value.bits & 0x7FFF) << 13;
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000) << 16;
  const float number = std::bit_cast<float>(magnitude) * 0x1p112F;
  const std::uint32_t bits =
      number >= 65536.0F ? magnitude | 0x7F800000U : std::bit_cast<std::uint32_t>(number);
  return std::bit_cast<float>(bits | sign);
}

/// Converts the upper byte of a half.
inline float to_number(Float8E5M2 value) noexcept {
  return to_number(Half{static_cast<std::uint16_t>(value.bits << 8)});
}

/// Converts four bits of exponent and three of mantissa; all ones is NaN, and there is no infinity.
inline float to_number(Float8E4M3 value) noexcept {
  if ((value.bits & 0x7F) == 0x7F) return std::numeric_limits<float>::quiet_NaN();
  const std::uint32_t magnitude = static_cast<std::uint32_t>(value.bits & 0x7F) << 20;
  const float number = std::bit_cast<float>(magnitude) * 0x1p120F;
  return (value.bits & 0x80) != 0 ? -number : number;
}

/// Calls `visit(T{})` with the C++ type that stores an element of that dtype.
template <typename Visitor>
decltype(auto) with_element_type(DType dtype, Visitor&& visit) {
  switch (dtype) {
    case DType::kBool:
      return visit(Bool{});
    case DType::kUInt8:
      return visit(std::uint8_t{});
    case DType::kInt8:
      return visit(std::int8_t{});
    case DType::kUInt16:
      return visit(std::uint16_t{});
    case DType::kInt16:
      return visit(std::int16_t{});
    case DType::kUInt32:
      return visit(std::uint32_t{});
    case DType::kInt32:
      return visit(std::int32_t{});
    case DType::kUInt64:
      return visit(std::uint64_t{});
    case DType::kInt64:
      return visit(std::int64_t{});
    case DType::kFloat8E4M3FN:
      return visit(Float8E4M3{});
    case DType::kFloat8E5M2:
      return visit(Float8E5M2{});
    case DType::kFloat16:
      return visit(Half{});
    case DType::kBFloat16:
      return visit(BFloat16{});
    case DType::kFloat32:
      return visit(float{});
    case DType::kFloat64:
      return visit(double{});
    case DType::kComplex64:
      return visit(std::complex<float>{});
    case DType::kComplex128:
      return visit(std::complex<double>{});
  }
  demand(false, "every dtype has an element type");
  __builtin_unreachable();
}

}  // namespace leapp::validate
