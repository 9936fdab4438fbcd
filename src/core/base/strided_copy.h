// Copies arrays whose elements are not contiguous.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "leapp/visibility.h"

namespace leapp {

/// Memory of the caller, described like a NumPy array.
struct StridedElements {
  const void* first = nullptr;          ///< the element whose indices are all 0
  std::span<const std::int64_t> shape;  ///< not negative
  std::span<const std::int64_t>
      strides;  ///< in bytes, one for each dimension; may be negative or 0
  std::size_t element_size = 0;
};

/// Returns whether the elements are contiguous, in row-major order.
LEAPP_EXPORT bool is_contiguous(const StridedElements& elements) noexcept;

/// Writes the elements to `to` in row-major order. `to` must have room for all of them and must not
/// overlap with them.
LEAPP_EXPORT void copy_strided(const StridedElements& elements, void* to) noexcept;

}  // namespace leapp
