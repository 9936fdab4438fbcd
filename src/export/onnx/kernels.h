// Element types for which ONNX Runtime's CPU provider has kernels, by operator.
//
// The ONNX standard allows more types than the runtime has kernels for. Converters look up a type
// here, and cast around a node if another type gives exactly the same result.
#pragma once

#include <optional>
#include <string_view>

#include "leapp/dtype.h"

namespace leapp::onnx_export {

/// Returns the type in which `op_type` computes exact results of type `dtype`: `dtype` itself if
/// there is a kernel (or the operator is unknown), otherwise the nearest wider one. Empty if there
/// is none.
std::optional<DType> kernel_type(std::string_view op_type, DType dtype);

}  // namespace leapp::onnx_export
