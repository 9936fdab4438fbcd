#include "export/onnx/kernels.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <unordered_map>

namespace leapp::onnx_export {
namespace {

using Mask = std::uint32_t;

constexpr Mask bit(DType dtype) {
  return Mask{1} << static_cast<unsigned>(dtype);
}

constexpr Mask mask(std::initializer_list<DType> types) {
  Mask all = 0;
  for (const DType dtype : types) all |= bit(dtype);
  return all;
}

using enum DType;
// Kernels of ONNX Runtime 1.20, the oldest supported version. Later versions support more integer
// types, which are rarely needed. uint64 is listed if no other type can represent its values. Half
// precision counts as supported, because the runtime itself casts it to float and back.
constexpr Mask kSingle = mask({kFloat16, kFloat32});
constexpr Mask kFloats = kSingle | bit(kFloat64);
constexpr Mask kInts = mask({kUInt8, kInt8, kUInt16, kInt16, kUInt32, kInt32, kUInt64, kInt64});
constexpr Mask kWide = kFloats | mask({kInt32, kInt64});
constexpr Mask kLong = kWide | bit(kUInt64);
constexpr Mask kAll = kInts | kFloats | bit(kBool);

const std::unordered_map<std::string_view, Mask>& table() {
  static const std::unordered_map<std::string_view, Mask> kTable = {
      {"Abs", kInts | kFloats},
      {"Neg", kWide | bit(kInt8)},
      {"Sign", kInts | kFloats | bit(kBFloat16)},
      {"Floor", kFloats},
      {"Ceil", kFloats},
      {"Round", kFloats},
      {"Sqrt", kFloats},
      {"Reciprocal", kFloats},
      {"Exp", kFloats},
      {"Log", kFloats},
      {"Sin", kFloats},
      {"Cos", kFloats},
      {"Tan", kSingle},
      {"Asin", kSingle},
      {"Acos", kSingle},
      {"Atan", kSingle},
      {"Sinh", kSingle},
      {"Cosh", kSingle},
      {"Tanh", kFloats},
      {"Asinh", kSingle},
      {"Acosh", kSingle},
      {"Atanh", kSingle},
      {"Erf", kSingle},
      {"Sigmoid", kFloats},
      {"Relu", kFloats | mask({kInt8, kInt32})},
      {"Softplus", kSingle},
      {"Softsign", kSingle},
      {"Elu", kSingle},
      {"Selu", kSingle},
      {"Celu", bit(kFloat32)},
      {"LeakyRelu", kSingle},
      {"ThresholdedRelu", kSingle},
      {"HardSigmoid", kSingle},
      {"HardSwish", kSingle},
      {"Mish", kSingle},
      {"Gelu", kSingle},
      {"IsNaN", kFloats | bit(kBFloat16)},
      {"IsInf", kFloats | bit(kBFloat16)},
      {"BitwiseNot", kInts},
      {"BitwiseAnd", kInts},
      {"BitwiseOr", kInts},
      {"BitwiseXor", kInts},
      {"BitShift", mask({kUInt8, kUInt32, kUInt64})},
      {"Softmax", kFloats},
      {"LogSoftmax", kFloats},
      {"Clip", kInts | kFloats | bit(kBFloat16)},
      {"ArgMax", kWide | mask({kUInt8, kInt8})},
      {"ArgMin", kWide | mask({kUInt8, kInt8})},
      {"Det", kSingle},
      {"ReduceSum", kWide},
      {"ReduceProd", kWide},
      {"ReduceMax", kWide | mask({kBool, kUInt8, kInt8})},
      {"ReduceMin", kWide | mask({kBool, kUInt8, kInt8})},
      {"ReduceMean", kFloats},
      {"ReduceL1", kWide},
      {"ReduceL2", kFloats},
      {"ReduceSumSquare", kWide},
      {"ReduceLogSum", kFloats},
      {"ReduceLogSumExp", kFloats},
      {"Add", kLong},
      {"Sub", kLong},
      {"Mul", kLong},
      {"Div", kLong},
      {"Mod", kInts | kFloats},
      {"Pow", kWide},
      {"Max", kLong | bit(kUInt32)},
      {"Min", kLong | bit(kUInt32)},
      {"Equal", kLong | bit(kBool)},
      {"Less", kLong},
      {"Greater", kLong},
      {"LessOrEqual", kLong},
      {"GreaterOrEqual", kLong},
      {"MatMul", kWide | mask({kUInt32, kUInt64})},
      {"Gemm", kFloats},
      {"Einsum", kWide},
      {"PRelu", kSingle},
      {"Where", kWide | bit(kUInt8)},
      {"Expand", kAll},
      {"Tile", kAll},
      {"Pad", kWide | mask({kBool, kUInt8, kInt8, kUInt32, kUInt64})},
      {"CumSum", kWide},
      {"TopK", kWide},
      {"Trilu", kFloats | mask({kBool, kInt64})},
      {"Conv", kSingle},
      {"ConvTranspose", kSingle},
      {"MaxPool", kFloats | mask({kUInt8, kInt8})},
      {"AveragePool", kSingle},
      {"LpPool", kSingle},
      {"BatchNormalization", kFloats},
      {"InstanceNormalization", kSingle},
      {"LayerNormalization", kFloats},
      {"GroupNormalization", kFloats},
      {"RMSNormalization", kFloats},
      {"LRN", kSingle},
      {"Resize", kSingle | mask({kUInt8, kInt8, kInt32})},
      {"GridSample", kFloats},
      {"AffineGrid", kFloats},
      {"LSTM", kSingle},
      {"GRU", kSingle},
      {"RNN", kSingle},
      {"DFT", kFloats},
      {"STFT", kFloats},
      {"Col2Im", kSingle},
      {"Attention", kFloats},
      {"Compress", kAll},
      {"ReverseSequence", kAll},
      {"NonZero", kSingle | mask({kBool, kUInt8, kInt32, kInt64})},
  };
  return kTable;
}

/// Types that represent every value of the given one, nearest first.
std::span<const DType> wider(DType dtype) {
  static constexpr std::array kFromBool = {kUInt8, kInt8, kInt32, kInt64, kFloat32};
  static constexpr std::array kFromUInt8 = {kInt16, kInt32, kInt64, kFloat32};
  static constexpr std::array kFromInt8 = {kInt16, kInt32, kInt64, kFloat32};
  static constexpr std::array kFrom16 = {kInt32, kInt64, kFloat32};
  static constexpr std::array kFromUInt32 = {kInt64, kFloat64};
  static constexpr std::array kFromInt32 = {kInt64, kFloat64};
  static constexpr std::array kFromHalf = {kFloat32, kFloat64};
  static constexpr std::array kFromFloat = {kFloat64};
  switch (dtype) {
    case kBool:
      return kFromBool;
    case kUInt8:
      return kFromUInt8;
    case kInt8:
      return kFromInt8;
    case kUInt16:
    case kInt16:
      return kFrom16;
    case kUInt32:
      return kFromUInt32;
    case kInt32:
      return kFromInt32;
    case kFloat16:
    case kBFloat16:
    case kFloat8E4M3FN:
    case kFloat8E5M2:
      return kFromHalf;
    case kFloat32:
      return kFromFloat;
    case kUInt64:
    case kInt64:
    case kFloat64:
    case kComplex64:
    case kComplex128:
      break;
  }
  return {};
}

}  // namespace

std::optional<DType> kernel_type(std::string_view op_type, DType dtype) {
  const auto found = table().find(op_type);
  if (found == table().end() || (found->second & bit(dtype)) != 0) return dtype;
  for (const DType candidate : wider(dtype)) {
    if ((found->second & bit(candidate)) != 0) return candidate;
  }
  return std::nullopt;
}

}  // namespace leapp::onnx_export
