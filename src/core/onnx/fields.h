// Field numbers of onnx.proto, for the reader and the writer.
#pragma once

#include <protozero/types.hpp>

namespace leapp::onnx::field {

using Tag = protozero::pbf_tag_type;

namespace property {
inline constexpr Tag kKey = 1, kValue = 2;
}
namespace tensor {
inline constexpr Tag kDims = 1, kDataType = 2, kFloatData = 4, kInt32Data = 5, kStringData = 6,
                     kInt64Data = 7, kName = 8, kRawData = 9, kDoubleData = 10, kUInt64Data = 11,
                     kDocString = 12, kExternalData = 13, kDataLocation = 14;
inline constexpr std::int32_t kLocationExternal = 1;
}  // namespace tensor
namespace attribute {
inline constexpr Tag kName = 1, kFloat = 2, kInt = 3, kString = 4, kTensor = 5, kGraph = 6,
                     kFloats = 7, kInts = 8, kStrings = 9, kTensors = 10, kGraphs = 11, kType = 20,
                     kSparseTensor = 22, kSparseTensors = 23;
/// AttributeProto.AttributeType
enum Type : std::int32_t {
  kTypeFloat = 1,
  kTypeInt = 2,
  kTypeString = 3,
  kTypeTensor = 4,
  kTypeGraph = 5,
  kTypeFloats = 6,
  kTypeInts = 7,
  kTypeStrings = 8,
};
}  // namespace attribute
namespace node {
inline constexpr Tag kInput = 1, kOutput = 2, kName = 3, kOpType = 4, kAttribute = 5,
                     kDocString = 6, kDomain = 7, kMetadata = 9;
}
namespace value_info {
inline constexpr Tag kName = 1, kType = 2, kDocString = 3;
}
namespace type {
inline constexpr Tag kTensor = 1, kElemType = 1, kShape = 2, kDim = 1, kDimValue = 1, kDimParam = 2;
}
namespace graph {
inline constexpr Tag kNode = 1, kName = 2, kInitializer = 5, kDocString = 10, kInput = 11,
                     kOutput = 12, kValueInfo = 13, kSparseInitializer = 15, kMetadata = 16;
}
namespace sparse_tensor {
inline constexpr Tag kValues = 1, kDims = 3;
}
namespace function {
inline constexpr Tag kName = 1, kNode = 7, kDomain = 10;
}
namespace opset {
inline constexpr Tag kDomain = 1, kVersion = 2;
}
namespace model {
inline constexpr Tag kIrVersion = 1, kProducerName = 2, kProducerVersion = 3, kDomain = 4,
                     kModelVersion = 5, kDocString = 6, kGraph = 7, kOpset = 8, kMetadata = 14,
                     kFunction = 25;
}

}  // namespace leapp::onnx::field
