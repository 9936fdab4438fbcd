// The C++ type that stores an element of each dtype, and its value as a number for computing.
#pragma once

#include <complex>
#include <cstdint>

#include "base/check.h"
#include "base/small_float.h"
#include "leapp/dtype.h"

namespace leapp {

/// Any byte that is not zero is true.
struct Bool {
  std::uint8_t bits;
};

/// Returns the value in the type that is used for comparisons.
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
template <typename T>
requires kIsSmallFloat<T>
float to_number(T value) noexcept {
  return widen(value);
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

}  // namespace leapp
