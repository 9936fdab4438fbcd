// Index expressions such as `ring[:, head]`, in which a traced number is an index.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "leapp/visibility.h"

namespace leapp::trace {

/// One item of an index expression, as interpreted by Python.
enum class IndexItem : std::uint8_t {
  kTraced,    ///< a 0-d integer tensor that may vary
  kNumber,    ///< removes a dimension
  kSlice,     ///< keeps a dimension
  kNewAxis,   ///< adds a dimension
  kEllipsis,  ///< keeps all dimensions without another item
  kOther,     ///< for example a list or a mask
};

/// Returns for each traced item the dimension that it indexes, if each of them is replaced by a
/// full slice and the expression is applied to a tensor with `rank` dimensions. Returns nothing if
/// there is no traced item, or an item of another type, which PyTorch's own operators handle.
LEAPP_EXPORT std::optional<std::vector<std::int64_t>> traced_dims(std::span<const IndexItem> items,
                                                                  std::int64_t rank);

/// Writes `value`, converted and expanded, to the elements of `target` whose dimensions `dims` have
/// the indices `indices`, as `target[..] = value` does.
LEAPP_EXPORT void index_assign(const at::Tensor& target, const std::vector<std::int64_t>& dims,
                               const std::vector<at::Tensor>& indices, const at::Tensor& value);

}  // namespace leapp::trace
