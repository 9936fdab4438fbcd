#include "runtime/finite.h"

#include <cstddef>
#include <cstdint>

namespace leapp {
namespace {

// A number is not finite exactly when all bits of its exponent are set. Whole blocks are joined
// before each test, so that the compiler can use vector instructions.
template <typename Bits>
bool exponents_below(const void* data, std::size_t count, Bits exponent) noexcept {
  const Bits* bits = static_cast<const Bits*>(data);
  constexpr std::size_t kBlock = 256;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t end = begin + kBlock < count ? begin + kBlock : count;
    unsigned found = 0;
    for (std::size_t i = begin; i < end; ++i) {
      found |= static_cast<unsigned>((bits[i] & exponent) == exponent);
    }
    if (found != 0) return false;
  }
  return true;
}

// E4M3FN has no infinity, and one NaN per sign.
bool no_e4m3fn_nan(const void* data, std::size_t count) noexcept {
  const auto* bits = static_cast<const std::uint8_t*>(data);
  for (std::size_t i = 0; i < count; ++i) {
    if ((bits[i] & 0x7F) == 0x7F) return false;
  }
  return true;
}

}  // namespace

bool all_finite(DType dtype, const void* data, std::size_t bytes) noexcept {
  const std::size_t count = bytes / size_of(dtype);
  switch (dtype) {
    case DType::kFloat32:
      return exponents_below<std::uint32_t>(data, count, 0x7F800000u);
    case DType::kFloat64:
      return exponents_below<std::uint64_t>(data, count, 0x7FF0000000000000u);
    case DType::kFloat16:
      return exponents_below<std::uint16_t>(data, count, 0x7C00u);
    case DType::kBFloat16:
      return exponents_below<std::uint16_t>(data, count, 0x7F80u);
    case DType::kFloat8E5M2:
      return exponents_below<std::uint8_t>(data, count, 0x7Cu);
    case DType::kFloat8E4M3FN:
      return no_e4m3fn_nan(data, count);
    case DType::kComplex64:
      return exponents_below<std::uint32_t>(data, 2 * count, 0x7F800000u);
    case DType::kComplex128:
      return exponents_below<std::uint64_t>(data, 2 * count, 0x7FF0000000000000u);
    case DType::kBool:
    case DType::kUInt8:
    case DType::kInt8:
    case DType::kUInt16:
    case DType::kInt16:
    case DType::kUInt32:
    case DType::kInt32:
    case DType::kUInt64:
    case DType::kInt64:
      return true;
  }
  return true;
}

}  // namespace leapp
