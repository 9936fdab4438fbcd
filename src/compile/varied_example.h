// Inputs for several passes, made from one example.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "leapp/visibility.h"

namespace leapp::compile {

/// Returns a copy of an example for one pass: as it is for pass 0; otherwise with noise added to
/// the elements of a floating-point tensor, a tenth of its largest magnitude, or of 1 if it is all
/// zeros. The same numbers give the same values, and no generator of the program is used.
LEAPP_EXPORT at::Tensor varied_example(const at::Tensor& example, std::int64_t pass,
                                       std::int64_t input);

}  // namespace leapp::compile
