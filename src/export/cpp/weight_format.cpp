#include "export/cpp/weight_format.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "base/check.h"
#include "base/small_float.h"

namespace leapp::cpp_export {
namespace {

template <typename T>
std::pair<ir::Blob, T*> new_blob(DType dtype, Shape shape) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  const std::shared_ptr<std::byte[]> bytes(
      new std::byte[std::max<std::size_t>(1, count * sizeof(T))]);
  ir::Blob blob;
  blob.data = std::shared_ptr<const std::byte>(bytes, bytes.get());
  blob.type = {dtype, std::move(shape), "cpu"};
  return {std::move(blob), reinterpret_cast<T*>(bytes.get())};
}

}  // namespace

WeightFormat parse_weight_format(const std::string& name) {
  if (name == "float32") return WeightFormat::kFloat32;
  if (name == "bf16") return WeightFormat::kBFloat16;
  require(name == "int8", Code::kWrongValue,
          "weights='" + name + "': weights are kept as 'float32', 'bf16' or 'int8'");
  return WeightFormat::kInt8;
}

ir::Blob to_bfloat16(const ir::Blob& blob) {
  auto [result, to] = new_blob<std::uint16_t>(DType::kUInt16, blob.type.shape);
  const auto count = static_cast<std::size_t>(element_count(blob.type.shape));
  std::transform(blob.as<float>(), blob.as<float>() + count, to,
                 [](float value) { return narrow<BFloat16>(value).bits; });
  return result;
}

Int8Weights to_int8(const ir::Blob& blob) {
  const auto rows = static_cast<std::size_t>(blob.type.shape[0]);
  const auto columns = static_cast<std::size_t>(blob.type.shape[1]);
  auto [values, value] = new_blob<std::int8_t>(DType::kInt8, blob.type.shape);
  auto [scales, scale] = new_blob<float>(DType::kFloat32, {blob.type.shape[0]});
  for (std::size_t row = 0; row < rows; ++row) {
    const float* from = blob.as<float>() + row * columns;
    float largest = 0;
    for (std::size_t i = 0; i < columns; ++i) largest = std::max(largest, std::abs(from[i]));
    scale[row] = largest / 127.0F;
    for (std::size_t i = 0; i < columns; ++i) {
      const float share = largest > 0 ? from[i] / largest * 127.0F : 0.0F;
      value[row * columns + i] = static_cast<std::int8_t>(std::lround(share));
    }
  }
  return {std::move(values), std::move(scales)};
}

}  // namespace leapp::cpp_export
