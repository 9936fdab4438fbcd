#include "runtime/mock_input.h"

#include "base/small_float.h"

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
      return filled<std::uint8_t>(port, [&] { return narrow<Float8E4M3>(number()).bits; });
    case DType::kFloat8E5M2:
      return filled<std::uint8_t>(port, [&] { return narrow<Float8E5M2>(number()).bits; });
    case DType::kFloat16:
      return filled<std::uint16_t>(port, [&] { return narrow<Half>(number()).bits; });
    case DType::kBFloat16:
      return filled<std::uint16_t>(port, [&] { return narrow<BFloat16>(number()).bits; });
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
