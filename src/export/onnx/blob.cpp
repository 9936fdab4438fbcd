#include "export/onnx/blob.h"

#include <bit>
#include <cmath>
#include <memory>

#include "base/check.h"
#include "onnx/model.h"

namespace leapp::onnx_export {
namespace {

struct Half {
  std::uint16_t bits;
};
struct BFloat {
  std::uint16_t bits;
};

float widen(Half half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000U) << 16U;
  const std::uint32_t exponent = (half.bits >> 10U) & 0x1FU;
  const std::uint32_t mantissa = half.bits & 0x3FFU;
  if (exponent == 0) {
    const float value = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -value : value;
  }
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13U));
  return std::bit_cast<float>(sign | ((exponent + 112U) << 23U) | (mantissa << 13U));
}

float widen(BFloat value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16U);
}

// Scales so that the last kept bit has weight one, lets the processor round to even, scales back.
Half to_half(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000U : 0U);
  const double size = std::fabs(value);
  if (std::isnan(value)) return {static_cast<std::uint16_t>(sign | 0x7E00U)};
  if (size >= 65520.0) return {static_cast<std::uint16_t>(sign | 0x7C00U)};
  int exponent = size == 0.0 ? -14 : std::max(std::ilogb(size), -14);
  auto mantissa = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  if (mantissa == 0x800U) {
    mantissa = 0x400U;
    ++exponent;
  }
  if (mantissa < 0x400U) return {static_cast<std::uint16_t>(sign | mantissa)};
  return {static_cast<std::uint16_t>(sign | (static_cast<std::uint32_t>(exponent + 15) << 10U) |
                                     (mantissa & 0x3FFU))};
}

BFloat to_bfloat(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (std::isnan(value)) return {static_cast<std::uint16_t>((bits >> 16U) | 0x40U)};
  return {static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U)};
}

/// Calls `visit` with a null pointer of the type that holds one element.
template <typename Visit>
void with_type(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::kBool:
      return visit(static_cast<bool*>(nullptr));
    case DType::kUInt8:
      return visit(static_cast<std::uint8_t*>(nullptr));
    case DType::kInt8:
      return visit(static_cast<std::int8_t*>(nullptr));
    case DType::kUInt16:
      return visit(static_cast<std::uint16_t*>(nullptr));
    case DType::kInt16:
      return visit(static_cast<std::int16_t*>(nullptr));
    case DType::kUInt32:
      return visit(static_cast<std::uint32_t*>(nullptr));
    case DType::kInt32:
      return visit(static_cast<std::int32_t*>(nullptr));
    case DType::kUInt64:
      return visit(static_cast<std::uint64_t*>(nullptr));
    case DType::kInt64:
      return visit(static_cast<std::int64_t*>(nullptr));
    case DType::kFloat16:
      return visit(static_cast<Half*>(nullptr));
    case DType::kBFloat16:
      return visit(static_cast<BFloat*>(nullptr));
    case DType::kFloat32:
      return visit(static_cast<float*>(nullptr));
    case DType::kFloat64:
      return visit(static_cast<double*>(nullptr));
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E5M2:
    case DType::kComplex64:
    case DType::kComplex128:
      break;
  }
  demand(false, "a constant of this element type cannot be read as numbers");
}

template <typename To, typename From>
To convert(From value) {
  if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat>) {
    return static_cast<To>(widen(value));
  } else if constexpr (std::is_same_v<To, Half>) {
    return to_half(static_cast<double>(value));
  } else if constexpr (std::is_same_v<To, BFloat>) {
    return to_bfloat(static_cast<double>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return static_cast<To>(static_cast<std::int64_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <typename To>
std::vector<To> read(const ir::Blob& blob) {
  std::vector<To> values(static_cast<std::size_t>(element_count(blob.type.shape)));
  with_type(blob.type.dtype, [&]<typename From>(From*) {
    const From* data = blob.as<From>();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = convert<To>(data[i]);
  });
  return values;
}

template <typename From>
ir::Blob write(DType dtype, Shape shape, std::span<const From> values) {
  ir::Blob blob;
  with_type(dtype, [&]<typename To>(To*) {
    std::unique_ptr<To[]> data(new To[values.size()]);
    for (std::size_t i = 0; i < values.size(); ++i) data[i] = convert<To>(values[i]);
    blob = make_blob(dtype, std::move(shape), data.get());
  });
  return blob;
}

}  // namespace

ir::Blob make_blob(DType dtype, Shape shape, const void* data) {
  ir::Blob blob;
  blob.type = {dtype, std::move(shape), "cpu"};
  const onnx::Bytes bytes = onnx::Bytes::copy_of(data, blob.byte_size());
  blob.data = bytes.data;
  return blob;
}

std::vector<double> to_doubles(const ir::Blob& blob) {
  return read<double>(blob);
}

std::vector<std::int64_t> to_ints(const ir::Blob& blob) {
  return read<std::int64_t>(blob);
}

ir::Blob from_doubles(DType dtype, Shape shape, std::span<const double> values) {
  return write(dtype, std::move(shape), values);
}

ir::Blob from_ints(DType dtype, Shape shape, std::span<const std::int64_t> values) {
  return write(dtype, std::move(shape), values);
}

}  // namespace leapp::onnx_export
