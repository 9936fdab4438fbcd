// Indices from values of tensors.
#pragma once

#include <functional>

#include "export/cpp/op_context.h"

namespace leapp::cpp_export {

/// Returns the position in a dimension that an element of `index` selects. An index out of range
/// makes the run fail. As in PyTorch, it depends on the operator if negative numbers count from the
/// end.
std::function<Index(const Indices&)> place_of(OpContext& context, const Value& index,
                                              std::int64_t size, bool from_end);

/// The indexing x[indices] of PyTorch: the shape of the result, and the indices of x for each of
/// its indices.
struct IndexedPlaces {
  Shape shape;
  IndexMap map;
};
IndexedPlaces places_of(OpContext& context, const Shape& shape, const char* parameter);

}  // namespace leapp::cpp_export
