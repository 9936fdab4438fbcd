// The layout of a tensor's elements in memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace leapp::trace {

/// Returns the first element, and one past the last in memory, including gaps. Null for a tensor
/// without memory.
const std::byte* begin_of(const at::Tensor& tensor);
const std::byte* end_of(const at::Tensor& tensor);

/// Returns whether two tensors have the same elements in the same order.
bool same_geometry(const at::Tensor& a, const at::Tensor& b);

/// Returns whether `whole` contains every element of a tensor in the same memory. Gaps do not
/// belong to a tensor.
bool covers(const at::Tensor& whole, const at::Tensor& part);

/// Returns whether two tensors have an element in common.
bool share_elements(const at::Tensor& a, const at::Tensor& b);

/// Returns a tensor with the elements of two tensors in the same memory: one of them, the base of
/// one of them, or all of the memory. Undefined if none has the type of `a`.
at::Tensor whole_of(const at::Tensor& a, const at::Tensor& b);

/// Returns all of the memory that contains a tensor, as elements of a type.
at::Tensor all_around(const at::Tensor& tensor, at::ScalarType type);

/// Calls `visit(offset)` for each element of a tensor with these strides, in logical order.
template <typename Visit>
void for_each_offset(at::IntArrayRef sizes, at::IntArrayRef strides, std::int64_t start,
                     Visit&& visit) {
  std::vector<std::int64_t> at(sizes.size(), 0);
  const std::int64_t count = c10::multiply_integers(sizes);
  std::int64_t offset = start;
  for (std::int64_t i = 0; i < count; ++i) {
    visit(offset);
    for (std::size_t d = sizes.size(); d-- > 0;) {
      offset += strides[d];
      if (++at[d] < sizes[d]) break;
      offset -= strides[d] * sizes[d];
      at[d] = 0;
    }
  }
}

}  // namespace leapp::trace
