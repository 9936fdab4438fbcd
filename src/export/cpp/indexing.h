// Places that the values of tensors choose.
#pragma once

#include <functional>

#include "export/cpp/op_context.h"

namespace leapp::cpp_export {

/// Returns the place in a dimension that an element of `index` names; one outside fails the run.
/// Whether negative numbers count from the end is PyTorch's choice for each operator.
std::function<Index(const Indices&)> place_of(OpContext& context, const Value& index,
                                              std::int64_t size, bool from_end);

/// x[indices] in PyTorch's meaning: the shape of the result, and for its indices those of x.
struct IndexedPlaces {
  Shape shape;
  IndexMap map;
};
IndexedPlaces places_of(OpContext& context, const Shape& shape, const char* parameter);

}  // namespace leapp::cpp_export
