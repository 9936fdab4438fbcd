// Cumulative sums, products and extremes. As in PyTorch, sums and products of floating-point
// numbers use double precision.
#include <cmath>
#include <functional>

#include "export/onnx/math.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

/// Values that a scan processes together.
using Row = std::vector<Value>;
/// Combines the results of the earlier and the later half of a range of elements.
using Combine = std::function<Row(const Row& earlier, const Row& later)>;

/// Returns every prefix along `dim`, combined pairwise in about log2(n) steps.
Row scan(Row row, std::int64_t dim, const Combine& combine) {
  const std::int64_t size = row[0].size(dim);
  for (std::int64_t shift = 1; shift < size; shift *= 2) {
    Row earlier;
    Row later;
    for (const Value& value : row) {
      earlier.push_back(slice(value, dim, 0, size - shift));
      later.push_back(slice(value, dim, shift, size));
    }
    const Row combined = combine(earlier, later);
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = concat({slice(row[i], dim, 0, shift), combined[i]}, dim);
    }
  }
  return row;
}

/// Returns the operand in the result's type, with at least one dimension.
Value operand(OpContext& context) {
  const Value x = cast(context.tensor("self"), context.result_dtype());
  return x.rank() == 0 ? reshape(x, {1}) : x;
}

Value convert_cumsum(OpContext& context) {
  const Value x = operand(context);
  return reshape(cumulative_sum(x, context.integer("dim")), context.result_shape());
}

Value convert_cumprod(OpContext& context) {
  const DType dtype = context.result_dtype();
  const Value x = cast(operand(context), is_floating_point(dtype) ? DType::kFloat64 : dtype);
  const std::int64_t dim = wrap_dim(context.integer("dim"), x.rank());
  const Row made = scan({x}, dim, [](const Row& a, const Row& b) { return Row{a[0] * b[0]}; });
  return reshape(cast(made[0], dtype), context.result_shape());
}

Value convert_logcumsumexp(OpContext& context) {
  const Value x = operand(context);
  const std::int64_t dim = wrap_dim(context.integer("dim"), x.rank());
  const Row made = scan({x}, dim, [](const Row& a, const Row& b) {
    const Value larger = maximum(a[0], b[0]);
    const Value shift = where(is_inf(larger), 0.0, larger);
    const Value total = shift + log(exp(a[0] - shift) + exp(b[0] - shift));
    return Row{where(is_inf(larger), larger, total)};
  });
  return reshape(made[0], context.result_shape());
}

/// Returns the extreme so far and its index; of equal ones the last, and NaN exceeds all numbers.
auto running_extreme(bool largest) {
  return [largest](OpContext& context) {
    Value x = context.tensor("self");
    if (x.rank() == 0) x = reshape(x, {1});
    const std::int64_t dim = wrap_dim(context.integer("dim"), x.rank());
    if (x.count() == 0) {
      context.set(0, reshape(x, context.result_shape()));
      context.set(1, full(context.builder(), context.result_type(1), 0));
      return;
    }
    Shape line(x.shape().size(), 1);
    line[static_cast<std::size_t>(dim)] = x.size(dim);
    const Value index = expand(reshape(iota(context.builder(), x.size(dim)), line), x.shape());
    const DType dtype = x.dtype();
    const bool is_bool = dtype == DType::kBool;
    const Value start = is_bool ? cast(x, DType::kInt32) : x;
    const Row made = scan({start, index}, dim, [&](const Row& a, const Row& b) {
      Value take = largest ? b[0] >= a[0] : b[0] <= a[0];
      if (is_floating_point(dtype)) take = is_nan(b[0]) || (!is_nan(a[0]) && take);
      return Row{where(take, b[0], a[0]), where(take, b[1], a[1])};
    });
    context.set(0, reshape(cast(made[0], dtype), context.result_shape()));
    context.set(1, reshape(made[1], context.result_shape(1)));
  };
}

}  // namespace

Value cumulative_sum(Value x, std::int64_t dim) {
  const Value axis = scalar_int(x.builder(), DType::kInt64, wrap_dim(dim, x.rank()));
  const DType dtype = x.dtype();
  const DType compute = is_floating_point(dtype) ? DType::kFloat64 : DType::kInt64;
  if (x.count() == 0) return x;
  return cast(x.builder().emit("CumSum", {cast(x, compute), axis}, {}, {compute, x.shape()}),
              dtype);
}

void register_cumulative(ConverterRegistry& registry) {
  registry.add("aten::cumsum", convert_cumsum);
  registry.add("aten::cumprod", convert_cumprod);
  registry.add({"aten::logcumsumexp", "aten::_logcumsumexp"}, convert_logcumsumexp);
  registry.add("aten::cummax", running_extreme(true));
  registry.add("aten::cummin", running_extreme(false));
}

}  // namespace leapp::onnx_export
