// Conversion of element types from LEAPP's to libtorch's.
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

#include "leapp/dtype.h"

namespace leapp {

inline at::ScalarType to_torch(DType dtype) noexcept {
  switch (dtype) {
    case DType::kBool:
      return at::kBool;
    case DType::kUInt8:
      return at::kByte;
    case DType::kInt8:
      return at::kChar;
    case DType::kUInt16:
      return at::kUInt16;
    case DType::kInt16:
      return at::kShort;
    case DType::kUInt32:
      return at::kUInt32;
    case DType::kInt32:
      return at::kInt;
    case DType::kUInt64:
      return at::kUInt64;
    case DType::kInt64:
      return at::kLong;
    case DType::kFloat8E4M3FN:
      return at::kFloat8_e4m3fn;
    case DType::kFloat8E5M2:
      return at::kFloat8_e5m2;
    case DType::kFloat16:
      return at::kHalf;
    case DType::kBFloat16:
      return at::kBFloat16;
    case DType::kFloat32:
      return at::kFloat;
    case DType::kFloat64:
      return at::kDouble;
    case DType::kComplex64:
      return at::kComplexFloat;
    case DType::kComplex128:
      return at::kComplexDouble;
  }
  return at::ScalarType::Undefined;
}

/// Returns the type; empty for types that LEAPP does not have (quantised ones).
inline std::optional<DType> from_torch(at::ScalarType type) noexcept {
  for (int i = 0; i <= static_cast<int>(DType::kComplex128); ++i) {
    if (to_torch(static_cast<DType>(i)) == type) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace leapp
