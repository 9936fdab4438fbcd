// Constants as numbers, for every element type.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace leapp::onnx_export {

/// Returns a blob with its own memory.
ir::Blob make_blob(DType dtype, Shape shape, const void* data);

template <typename T>
ir::Blob make_blob(DType dtype, Shape shape, const std::vector<T>& values) {
  return make_blob(dtype, std::move(shape), static_cast<const void*>(values.data()));
}

/// Converts exactly, for every type except the complex ones: integers and bool as int64 (uint64 as
/// its bits), floating-point numbers as double.
std::vector<double> to_doubles(const ir::Blob& blob);
std::vector<std::int64_t> to_ints(const ir::Blob& blob);

/// Converts numbers to a type: rounds to nearest even for floating-point types (as
/// base/small_float.h does), wraps integers; bool is "not zero".
ir::Blob from_doubles(DType dtype, Shape shape, std::span<const double> values);
ir::Blob from_ints(DType dtype, Shape shape, std::span<const std::int64_t> values);

}  // namespace leapp::onnx_export
