// Looks for NaN and infinity.
#pragma once

#include "leapp/tensor_view.h"

namespace leapp {

/// Whether every element is a finite number; true for types that have no other. Does not allocate.
bool all_finite(const TensorView& view) noexcept;

}  // namespace leapp
