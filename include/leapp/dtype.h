// Element types and shapes, used by every layer. The names are those of PyTorch ("float32", "bool",
// ..).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/visibility.h"

namespace leapp {

enum class DType : std::uint8_t {
  kBool,
  kUInt8,
  kInt8,
  kUInt16,
  kInt16,
  kUInt32,
  kInt32,
  kUInt64,
  kInt64,
  kFloat8E4M3FN,
  kFloat8E5M2,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
};

using Shape = std::vector<std::int64_t>;

/// Returns PyTorch's name of the type: "float32", "int64", "bool", "complex64", ..
LEAPP_EXPORT std::string_view name_of(DType dtype) noexcept;

/// Returns the type of that name; empty if there is none.
LEAPP_EXPORT std::optional<DType> dtype_from_name(std::string_view name) noexcept;

/// Returns the bytes of one element.
LEAPP_EXPORT std::size_t size_of(DType dtype) noexcept;

LEAPP_EXPORT bool is_floating_point(DType dtype) noexcept;
LEAPP_EXPORT bool is_complex(DType dtype) noexcept;
/// Returns whether the type is a signed or unsigned integer; bool is not.
LEAPP_EXPORT bool is_integer(DType dtype) noexcept;

/// Returns the number of elements; empty if a dimension is negative or the product overflows.
LEAPP_EXPORT std::optional<std::int64_t> checked_element_count(const Shape& shape) noexcept;

/// Returns the bytes of a tensor. Throws Error(kValue) for a shape with a negative size, or if the
/// number of bytes overflows.
LEAPP_EXPORT std::size_t checked_byte_size(DType dtype, const Shape& shape);

/// Returns the number of elements of a valid shape.
LEAPP_EXPORT std::int64_t element_count(const Shape& shape) noexcept;

/// Returns "[1, 16]".
LEAPP_EXPORT std::string to_string(const Shape& shape);

}  // namespace leapp
