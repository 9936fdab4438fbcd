#include "runtime/mock_input.h"

#include <algorithm>
#include <bit>

namespace leapp {
namespace {

template <typename T, typename Next>
Tensor filled(const Port& port, const Next& next) {
  Tensor tensor(port.dtype, port.shape);
  T* elements = static_cast<T*>(tensor.data());
  for (std::size_t i = 0; i < tensor.byte_size() / sizeof(T); ++i) {
    elements[i] = static_cast<T>(next());
  }
  return tensor;
}

// A small float in a narrower format, by cutting its mantissa: exact rounding does not matter here.
// Both widths share the sign and the kind of exponent.
template <typename T>
T narrow(float value, int exponent_bits, int mantissa_bits) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>((bits >> 23) & 0xFF) - 127 + bias;
  const int largest = (1 << exponent_bits) - 2;
  const std::uint32_t sign = (bits >> 31) << (exponent_bits + mantissa_bits);
  if (exponent <= 0) return static_cast<T>(sign);  // too small: zero
  const auto clipped = static_cast<std::uint32_t>(std::min(exponent, largest));
  const std::uint32_t mantissa = (bits & 0x7FFFFF) >> (23 - mantissa_bits);
  return static_cast<T>(sign | (clipped << mantissa_bits) | mantissa);
}

}  // namespace

Tensor mock_value(const Port& port, std::mt19937& random) {
  std::normal_distribution<float> normal;
  const auto number = [&] { return normal(random); };
  const auto one = [] { return 1; };
  switch (port.dtype) {
    case DType::kBool:
      return filled<std::uint8_t>(port, [&] { return random() & 1; });
    case DType::kUInt8:
    case DType::kInt8:
      return filled<std::uint8_t>(port, one);
    case DType::kUInt16:
    case DType::kInt16:
      return filled<std::uint16_t>(port, one);
    case DType::kUInt32:
    case DType::kInt32:
      return filled<std::uint32_t>(port, one);
    case DType::kUInt64:
    case DType::kInt64:
      return filled<std::uint64_t>(port, one);
    case DType::kFloat8E4M3FN:
      return filled<std::uint8_t>(port, [&] { return narrow<std::uint8_t>(number(), 4, 3); });
    case DType::kFloat8E5M2:
      return filled<std::uint8_t>(port, [&] { return narrow<std::uint8_t>(number(), 5, 2); });
    case DType::kFloat16:
      return filled<std::uint16_t>(port, [&] { return narrow<std::uint16_t>(number(), 5, 10); });
    case DType::kBFloat16:
      return filled<std::uint16_t>(port, [&] { return narrow<std::uint16_t>(number(), 8, 7); });
    case DType::kFloat32:
    case DType::kComplex64:
      return filled<float>(port, number);
    case DType::kFloat64:
    case DType::kComplex128:
      return filled<double>(port, number);
  }
  return Tensor(port.dtype, port.shape);
}

}  // namespace leapp
