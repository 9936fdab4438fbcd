// Storage formats for the weights of linear layers. Fewer bits need less memory, and less time if
// memory bandwidth is the limit. The exporter measures the error that a format causes.
#pragma once

#include <string>

#include "ir/graph.h"

namespace leapp::cpp_export {

enum class WeightFormat {
  kFloat32,   ///< as they are
  kBFloat16,  ///< rounded to bfloat16, two bytes each
  kInt8,      ///< integers from -127 to 127 with one scale for each output
};

/// Returns the format for "float32", "bf16" and "int8". Throws Error(kWrongValue) for another name.
LEAPP_EXPORT WeightFormat parse_weight_format(const std::string& name);

/// Returns the bits of float32 numbers as bfloat16, rounded to the nearest; ties to even.
ir::Blob to_bfloat16(const ir::Blob& blob);

struct Int8Weights {
  ir::Blob values;  ///< [out, in]
  ir::Blob scales;  ///< [out], float32: the factor of each row
};

/// Converts a float32 matrix [out, in] row by row, scaled by its largest number.
Int8Weights to_int8(const ir::Blob& blob);

}  // namespace leapp::cpp_export
