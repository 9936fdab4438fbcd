// Elements of any type as numbers one can compare.
#pragma once

#include <bit>
#include <cmath>
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

inline double to_number(BFloat16 value) noexcept {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16));
}

/// A small float of `exponent_bits` and `mantissa_bits`, the way IEEE 754 lays it out.
inline double decode_small_float(unsigned bits, int exponent_bits, int mantissa_bits,
                                 bool has_infinity) noexcept {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const unsigned mantissa = bits & ((1U << mantissa_bits) - 1);
  const unsigned all_ones = (1U << exponent_bits) - 1;
  const unsigned exponent = (bits >> mantissa_bits) & all_ones;
  const double sign = ((bits >> (mantissa_bits + exponent_bits)) & 1U) != 0 ? -1.0 : 1.0;
  if (exponent == all_ones) {
    const unsigned nan_from = has_infinity ? 1 : (1U << mantissa_bits) - 1;
    if (mantissa >= nan_from) return std::numeric_limits<double>::quiet_NaN();
    if (has_infinity) return sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1U << mantissa_bits),
                           static_cast<int>(exponent) - bias - mantissa_bits);
}

inline double to_number(Half value) noexcept {
  return decode_small_float(value.bits, 5, 10, true);
}
inline double to_number(Float8E5M2 value) noexcept {
  return decode_small_float(value.bits, 5, 2, true);
}
inline double to_number(Float8E4M3 value) noexcept {
  return decode_small_float(value.bits, 4, 3, false);  // all ones is NaN, the rest are numbers
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
