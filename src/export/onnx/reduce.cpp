// Sums, products, extremes, statistics over dimensions.
#include <algorithm>
#include <cmath>

#include "export/onnx/kernels.h"
#include "export/onnx/math.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

/// Returns the dimensions that an operation reduces; all of them if it names none.
Dims reduced_dims(OpContext& context, Value x) {
  const Dims dims = wrap_dims(context.ints("dim"), x.rank());
  return dims.empty() ? all_dims(x.rank()) : dims;
}

std::int64_t reduced_count(Value x, const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= x.size(dim);
  return count;
}

bool keep(OpContext& context) {
  return context.has("keepdim") && context.flag("keepdim");
}

Value convert_sum(OpContext& context) {
  const Value x = cast(context.tensor("self"), context.result_dtype());
  return sum(x, reduced_dims(context, x), keep(context));
}

Value convert_prod(OpContext& context) {
  const Value x = cast(context.tensor("self"), context.result_dtype());
  return prod(x, reduced_dims(context, x), keep(context));
}

Value convert_mean(OpContext& context) {
  const Value x = cast(context.tensor("self"), context.result_dtype());
  return mean(x, reduced_dims(context, x), keep(context));
}

Value without_nan(Value x) {
  return is_floating_point(x.dtype()) ? where(is_nan(x), 0.0, x) : x;
}

Value convert_nansum(OpContext& context) {
  const Value x = cast(without_nan(context.tensor("self")), context.result_dtype());
  return sum(x, reduced_dims(context, x), keep(context));
}

Value convert_nanmean(OpContext& context) {
  const Value x = context.tensor("self");
  const Dims dims = reduced_dims(context, x);
  const Value total = sum(without_nan(x), dims, keep(context));
  const Value count = sum(cast(!is_nan(x), x.dtype()), dims, keep(context));
  return cast(total / count, context.result_dtype());
}

/// Keeps NaN as PyTorch does; ONNX Runtime's ReduceMax drops it.
Value extreme(const char* op_type, Value x, const Dims& dims, bool keep_dims) {
  const Value found = reduce(op_type, x, dims, keep_dims);
  if (!is_floating_point(x.dtype())) return found;
  // A sum of magnitudes is NaN if and only if one of them is; cheaper than a mask.
  return where(is_nan(sum(abs(x), dims, keep_dims)), NAN, found);
}

Value convert_amax(OpContext& context) {
  const Value x = context.tensor("self");
  return extreme("ReduceMax", x, reduced_dims(context, x), keep(context));
}

Value convert_amin(OpContext& context) {
  const Value x = context.tensor("self");
  return extreme("ReduceMin", x, reduced_dims(context, x), keep(context));
}

void convert_aminmax(OpContext& context) {
  const Value x = context.tensor("self");
  const Dims dims = reduced_dims(context, x);
  context.set(0, extreme("ReduceMin", x, dims, keep(context)));
  context.set(1, extreme("ReduceMax", x, dims, keep(context)));
}

/// Returns the index of the first extreme; NaN counts as the most extreme value.
Value arg_extreme(const char* op_type, Value x, std::int64_t dim, bool keep_dims) {
  Builder& builder = x.builder();
  if (x.rank() == 0) return scalar_int(builder, DType::kInt64, 0);
  dim = wrap_dim(dim, x.rank());
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(dim)] = 1;
  const auto position = [&](const char* name, Value of) {
    const DType compute = kernel_type(name, of.dtype()).value_or(of.dtype());
    return builder.emit(
        name, {cast(of, compute)},
        {{"axis", dim}, {"keepdims", std::int64_t{1}}, {"select_last_index", std::int64_t{0}}},
        {DType::kInt64, shape});
  };
  Value index = position(op_type, x);
  if (is_floating_point(x.dtype())) {
    const Value nan = is_nan(x);
    const Value first_nan = position("ArgMax", cast(nan, DType::kInt32));
    index = where(any(nan, {dim}, true), first_nan, index);
  }
  return keep_dims ? index : squeeze(index, dim);
}

Value convert_arg(OpContext& context, const char* op_type) {
  Value x = context.tensor("self");
  if (context.is_none("dim")) {
    return reshape(arg_extreme(op_type, reshape(x, {x.count()}), 0, false), context.result_shape());
  }
  return arg_extreme(op_type, x, context.integer("dim"), keep(context));
}

/// Converts max.dim and min.dim: the extreme and its first index.
void convert_extreme_dim(OpContext& context, const char* reduction, const char* arg) {
  const Value x = context.tensor("self");
  const std::int64_t dim = wrap_dim(context.integer("dim"), x.rank());
  if (x.rank() == 0) {
    context.set(0, x);
    context.set(1, scalar_int(x.builder(), DType::kInt64, 0));
    return;
  }
  context.set(0, extreme(reduction, x, {dim}, keep(context)));
  context.set(1, arg_extreme(arg, x, dim, keep(context)));
}

Value convert_any(OpContext& context) {
  const Value x = cast(context.tensor("self"), DType::kBool);
  return cast(any(x, reduced_dims(context, x), keep(context)), context.result_dtype());
}

Value convert_all(OpContext& context) {
  const Value x = cast(context.tensor("self"), DType::kBool);
  return cast(all(x, reduced_dims(context, x), keep(context)), context.result_dtype());
}

struct Moments {
  Value variance;
  Value mean;
};

Moments moments(OpContext& context, Value x) {
  const Dims dims = reduced_dims(context, x);
  // `unbiased` is the older form of correction = 1.
  double correction = 1.0;
  if (context.has("unbiased")) correction = context.flag("unbiased") ? 1.0 : 0.0;
  if (context.has("correction")) correction = context.number("correction", 1.0);
  const Value center = mean(x, dims, true);
  const Value squares = sum(square(x - center), dims, keep(context));
  const double left = std::max(static_cast<double>(reduced_count(x, dims)) - correction, 0.0);
  const Value center_out =
      keep(context) || x.rank() == 0 ? center : reshape(center, squares.shape());
  return {squares / left, center_out};
}

Value convert_var(OpContext& context) {
  return moments(context, context.tensor("self")).variance;
}

Value convert_std(OpContext& context) {
  return sqrt(moments(context, context.tensor("self")).variance);
}

void convert_var_mean(OpContext& context) {
  const Moments found = moments(context, context.tensor("self"));
  context.set(0, found.variance);
  context.set(1, found.mean);
}

void convert_std_mean(OpContext& context) {
  const Moments found = moments(context, context.tensor("self"));
  context.set(0, sqrt(found.variance));
  context.set(1, found.mean);
}

Value convert_logsumexp(OpContext& context) {
  const Value x = cast(context.tensor("self"), context.result_dtype());
  const Dims dims = reduced_dims(context, x);
  if (reduced_count(x, dims) == 0) return log(sum(exp(x), dims, keep(context)));
  // An infinite largest element would make inf - inf.
  const Value largest = reduce("ReduceMax", x, dims, true);
  const Value shift = where(is_inf(largest), 0.0, largest);
  const Value total = log(sum(exp(x - shift), dims, true)) + shift;
  return reshape(total, context.result_shape());
}

Value convert_count_nonzero(OpContext& context) {
  const Value x = cast(cast(context.tensor("self"), DType::kBool), DType::kInt64);
  return sum(x, reduced_dims(context, x), false);
}

Value vector_norm(Value x, double p, const Dims& dims, bool keep_dims) {
  const Value size = abs(x);
  if (p == 2.0) return reduce("ReduceL2", x, dims, keep_dims);
  if (p == 1.0) return sum(size, dims, keep_dims);
  if (p == 0.0) return sum(cast(not_equal(x, 0.0), x.dtype()), dims, keep_dims);
  if (std::isinf(p)) return extreme(p > 0 ? "ReduceMax" : "ReduceMin", size, dims, keep_dims);
  const Value total = sum(power(size, scalar_like(x, p)), dims, keep_dims);
  return power(total, scalar_like(x, 1.0 / p));
}

Value convert_vector_norm(OpContext& context) {
  const Value x = cast(context.tensor("self"), context.result_dtype());
  return vector_norm(x, context.number("ord", 2.0), reduced_dims(context, x), keep(context));
}

Value convert_norm(OpContext& context) {
  const Value x = cast(context.tensor("self"), context.result_dtype());
  return vector_norm(x, context.number("p", 2.0), reduced_dims(context, x), keep(context));
}

}  // namespace

void register_reduce(ConverterRegistry& registry) {
  registry.add({"aten::sum", "aten::sum.dim_IntList"}, convert_sum);
  registry.add({"aten::prod", "aten::prod.dim_int"}, convert_prod);
  registry.add({"aten::mean", "aten::mean.dim"}, convert_mean);
  registry.add("aten::nansum", convert_nansum);
  registry.add("aten::nanmean", convert_nanmean);
  registry.add({"aten::amax", "aten::max"}, convert_amax);
  registry.add({"aten::amin", "aten::min"}, convert_amin);
  registry.add("aten::aminmax", convert_aminmax);
  registry.add("aten::argmax", [](OpContext& context) { return convert_arg(context, "ArgMax"); });
  registry.add("aten::argmin", [](OpContext& context) { return convert_arg(context, "ArgMin"); });
  registry.add("aten::max.dim",
               [](OpContext& context) { convert_extreme_dim(context, "ReduceMax", "ArgMax"); });
  registry.add("aten::min.dim",
               [](OpContext& context) { convert_extreme_dim(context, "ReduceMin", "ArgMin"); });
  registry.add({"aten::any", "aten::any.dim", "aten::any.dims"}, convert_any);
  registry.add({"aten::all", "aten::all.dim", "aten::all.dims"}, convert_all);
  registry.add({"aten::var", "aten::var.dim", "aten::var.correction"}, convert_var);
  registry.add({"aten::std", "aten::std.dim", "aten::std.correction"}, convert_std);
  registry.add({"aten::var_mean", "aten::var_mean.dim", "aten::var_mean.correction"},
               convert_var_mean);
  registry.add({"aten::std_mean", "aten::std_mean.dim", "aten::std_mean.correction"},
               convert_std_mean);
  registry.add("aten::logsumexp", convert_logsumexp);
  registry.add({"aten::count_nonzero", "aten::count_nonzero.dim_IntList"}, convert_count_nonzero);
  registry.add("aten::linalg_vector_norm", convert_vector_norm);
  registry.add({"aten::norm.Scalar", "aten::norm.ScalarOpt_dim", "aten::norm.ScalarOpt_dtype",
                "aten::norm.ScalarOpt_dim_dtype"},
               convert_norm);
}

}  // namespace leapp::onnx_export
