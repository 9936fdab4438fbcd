// Inputs for several passes, derived from one example.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "leapp/visibility.h"

namespace leapp::compile {

/// Returns a copy of an example for one pass: unchanged for pass 0; otherwise with noise added to
/// the elements of a floating-point tensor, a tenth of its largest magnitude, or of 1 if it is all
/// zeros. The noise is deterministic and does not use the program's generators.
LEAPP_EXPORT at::Tensor varied_example(const at::Tensor& example, std::int64_t pass,
                                       std::int64_t input);

}  // namespace leapp::compile
