// Element types: LEAPP's to ONNX Runtime's, which has the numbers of onnx::ElementType.
#pragma once

#include <onnxruntime_c_api.h>

#include "leapp/dtype.h"

namespace leapp {

constexpr ONNXTensorElementDataType to_onnxruntime(DType dtype) noexcept {
  switch (dtype) {
    case DType::kBool:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL;
    case DType::kUInt8:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8;
    case DType::kInt8:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8;
    case DType::kUInt16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16;
    case DType::kInt16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16;
    case DType::kUInt32:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32;
    case DType::kInt32:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32;
    case DType::kUInt64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64;
    case DType::kInt64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
    case DType::kFloat8E4M3FN:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN;
    case DType::kFloat8E5M2:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2;
    case DType::kFloat16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16;
    case DType::kBFloat16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16;
    case DType::kFloat32:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
    case DType::kFloat64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE;
    case DType::kComplex64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64;
    case DType::kComplex128:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128;
  }
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}

}  // namespace leapp
