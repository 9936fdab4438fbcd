// as_strided() speaks of memory, a graph of values.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace leapp::trace {

/// Which of the tensor's own elements, counted in logical order, a view with these sizes and
/// strides shows, as a list of int64. Throws where it reads memory that is none of them.
at::Tensor logical_places(const at::Tensor& self, const std::vector<std::int64_t>& sizes,
                          const std::vector<std::int64_t>& strides, std::int64_t start);

}  // namespace leapp::trace
