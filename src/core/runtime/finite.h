// Detects NaN and infinity.
#pragma once

#include <cstddef>

#include "leapp/dtype.h"
#include "leapp/tensor_view.h"

namespace leapp {

/// Returns whether every element is a finite number; true for types that have no other. Does not
/// allocate.
bool all_finite(DType dtype, const void* data, std::size_t bytes) noexcept;

inline bool all_finite(const TensorView& view) noexcept {
  return all_finite(view.dtype, view.data, view.byte_size());
}

}  // namespace leapp
