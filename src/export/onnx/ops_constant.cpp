#include "export/onnx/blob.h"
#include "export/onnx/ops.h"

namespace leapp::onnx_export {

Value scalar(Builder& builder, DType dtype, double value) {
  return builder.constant(from_doubles(dtype, {}, std::span(&value, 1)));
}

Value scalar_int(Builder& builder, DType dtype, std::int64_t value) {
  return builder.constant(from_ints(dtype, {}, std::span(&value, 1)));
}

Value scalar_like(Value like, double value) {
  return scalar(like.builder(), like.dtype(), value);
}

Value int_tensor(Builder& builder, std::span<const std::int64_t> values, Shape shape) {
  return builder.constant(from_ints(DType::kInt64, std::move(shape), values));
}

Value int_vector(Builder& builder, std::span<const std::int64_t> values) {
  return int_tensor(builder, values, {static_cast<std::int64_t>(values.size())});
}

Value float_tensor(Builder& builder, DType dtype, std::span<const double> values, Shape shape) {
  return builder.constant(from_doubles(dtype, std::move(shape), values));
}

Value iota(Builder& builder, std::int64_t count) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i);
  return int_vector(builder, values);
}

Value full(Builder& builder, Type type, double value) {
  return expand(scalar(builder, type.dtype, value), std::move(type.shape));
}

std::optional<std::vector<std::int64_t>> constant_ints(Value value) {
  const auto& blob = value.builder().value(value.id()).constant;
  if (blob == nullptr || is_complex(value.dtype())) return std::nullopt;
  return to_ints(*blob);
}

std::optional<std::vector<double>> constant_doubles(Value value) {
  const auto& blob = value.builder().value(value.id()).constant;
  if (blob == nullptr || is_complex(value.dtype())) return std::nullopt;
  return to_doubles(*blob);
}

}  // namespace leapp::onnx_export
