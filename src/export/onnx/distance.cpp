// Distances between rows.
#include <cmath>

#include "export/onnx/math.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

Value distance(Value difference, double p) {
  const Value size = abs(difference);
  if (p == 0.0) return sum(cast(not_equal(size, 0.0), size.dtype()), {-1});
  if (p == 1.0) return sum(size, {-1});
  if (p == 2.0) return sqrt(sum(square(size), {-1}));
  if (std::isinf(p)) return amax(size, {-1});
  return power(sum(power(size, scalar_like(size, p)), {-1}), scalar_like(size, 1.0 / p));
}

Value convert_cdist(OpContext& context) {
  const Value a = context.tensor("x1");
  const Value b = context.tensor("x2");
  if (a.size(-1) == 0 || element_count(context.result_shape()) == 0) {
    return full(context.builder(), context.result_type(), 0);
  }
  return distance(unsqueeze(a, -2) - unsqueeze(b, -3), context.number("p"));
}

/// Computes one product, |a|^2 + |b|^2 - 2 a b, as PyTorch does for many rows, so that both round
/// in the same way.
Value convert_euclidean(OpContext& context) {
  const Value a = context.tensor("x1");
  const Value b = context.tensor("x2");
  if (element_count(context.result_shape()) == 0) {
    return full(context.builder(), context.result_type(), 0);
  }
  const auto with_norm = [](Value x, Value scaled, bool norm_first) {
    const Value norm = sum(square(x), {-1}, true);
    const Value one = full(x.builder(), norm.type(), 1);
    return norm_first ? concat({scaled, norm, one}, -1) : concat({scaled, one, norm}, -1);
  };
  const Value product =
      matmul(with_norm(a, a * -2.0, true), transpose(with_norm(b, b, false), -1, -2));
  return sqrt(clamp(product, scalar_like(product, 0), Value()));
}

Value convert_pdist(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t rows = x.size(0);
  Dims first;
  Dims second;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = i + 1; j < rows; ++j) {
      first.push_back(i);
      second.push_back(j);
    }
  }
  if (first.empty() || x.size(1) == 0) {
    return full(context.builder(), context.result_type(), 0);
  }
  const auto taken = [&](const Dims& index) {
    return gather(x, int_vector(context.builder(), index), 0);
  };
  return distance(taken(first) - taken(second), context.number("p"));
}

Value convert_dist(OpContext& context) {
  const DType dtype = context.result_dtype();
  const Value difference =
      cast(context.tensor("self"), dtype) - cast(context.tensor("other"), dtype);
  const double p = context.number("p");
  const Value flat = reshape(difference, {difference.count()});
  if (std::isinf(p) && p < 0) return amin(abs(flat), {});
  return reshape(distance(flat, p), {});
}

}  // namespace

void register_distance(ConverterRegistry& registry) {
  registry.add("aten::_cdist_forward", convert_cdist);
  registry.add("aten::_euclidean_dist", convert_euclidean);
  registry.add("aten::_pdist_forward", convert_pdist);
  registry.add("aten::dist", convert_dist);
}

}  // namespace leapp::onnx_export
