// Which element types ONNX Runtime's CPU provider computes an operator in.
//
// The ONNX standard allows more types than the runtime has kernels for. Converters ask here and
// cast around a node where another type gives exactly the same result.
#pragma once

#include <optional>
#include <string_view>

#include "leapp/dtype.h"

namespace leapp::onnx_export {

/// Returns the type to run `op_type` in so that values of type `dtype` come out exactly: `dtype`
/// itself where there is a kernel (or nothing is known of the operator), else the nearest wider
/// one. Empty when no type does.
std::optional<DType> kernel_type(std::string_view op_type, DType dtype);

}  // namespace leapp::onnx_export
