// Batch, layer, group and root mean square normalisation.
#include <cmath>
#include <limits>

#include "export/onnx/layout.h"
#include "export/onnx/nn.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

/// Returns one number per channel, shaped to broadcast with [batch, channel, ..].
Value per_channel(Value values, std::int64_t rank) {
  Shape shape(static_cast<std::size_t>(rank), 1);
  shape[1] = values.count();
  return reshape(values, shape);
}

Value ones(Builder& builder, DType dtype, std::int64_t count) {
  return expand(scalar(builder, dtype, 1), {count});
}

Value zeros(Builder& builder, DType dtype, std::int64_t count) {
  return expand(scalar(builder, dtype, 0), {count});
}

Dims without(std::int64_t rank, std::int64_t dim) {
  Dims dims = all_dims(rank);
  dims.erase(dims.begin() + dim);
  return dims;
}

Value convert_layer_norm(OpContext& context) {
  return layer_norm(context.tensor("input"), context.ints("normalized_shape"),
                    context.optional_tensor("weight"), context.optional_tensor("bias"),
                    context.number("eps"));
}

void convert_native_layer_norm(OpContext& context) {
  const Value x = context.tensor("input");
  const Shape normalized = context.ints("normalized_shape");
  context.set(0, convert_layer_norm(context));
  Dims dims;
  for (std::size_t i = 0; i < normalized.size(); ++i) {
    dims.push_back(x.rank() - 1 - static_cast<std::int64_t>(i));
  }
  const Value center = mean(x, dims, true);
  const Value variance = mean(square(x - center), dims, true);
  context.set(1, cast(center, context.result_dtype(1)));
  context.set(2, cast(reciprocal(sqrt(variance + context.number("eps"))), context.result_dtype(2)));
}

struct GroupNorm {
  Value result;
  Value mean;
  Value rstd;
};

GroupNorm group_norm(OpContext& context, Value x, std::int64_t groups, double epsilon) {
  Builder& builder = context.builder();
  const std::int64_t batch = x.size(0);
  GroupNorm made;
  Value normalized = x;
  if (x.count() > 0) {
    const Value grouped = reshape(x, {batch, groups, x.count() / (batch * groups)});
    const DType compute = x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
    if (compute == DType::kFloat64) {
      const Value center = mean(grouped, {2}, true);
      const Value variance = mean(square(grouped - center), {2}, true);
      normalized = reshape((grouped - center) / sqrt(variance + epsilon), x.shape());
    } else {
      normalized = reshape(
          cast(builder.emit("InstanceNormalization",
                            {cast(grouped, compute), ones(builder, compute, groups),
                             zeros(builder, compute, groups)},
                            {{"epsilon", static_cast<float>(epsilon)}}, {compute, grouped.shape()}),
               x.dtype()),
          x.shape());
    }
    made.mean = mean(grouped, {2});
    made.rstd = reciprocal(sqrt(mean(square(grouped - unsqueeze(made.mean, 2)), {2}) + epsilon));
  }
  const Value weight = context.optional_tensor("weight");
  const Value bias = context.optional_tensor("bias");
  made.result = normalized;
  if (weight.defined()) made.result = made.result * per_channel(weight, x.rank());
  if (bias.defined()) made.result = made.result + per_channel(bias, x.rank());
  return made;
}

Value convert_group_norm(OpContext& context) {
  return group_norm(context, context.tensor("input"), context.integer("num_groups"),
                    context.number("eps"))
      .result;
}

void convert_native_group_norm(OpContext& context) {
  const GroupNorm made =
      group_norm(context, context.tensor("input"), context.integer("group"), context.number("eps"));
  context.set(0, made.result);
  if (!made.mean.defined()) return;
  context.set(1, cast(made.mean, context.result_dtype(1)));
  context.set(2, cast(made.rstd, context.result_dtype(2)));
}

Value convert_rms_norm(OpContext& context) {
  const Value x = context.tensor("input");
  const DType dtype = x.dtype();
  // In at least single precision, as PyTorch does.
  const DType compute = dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const double tiny = dtype == DType::kFloat64   ? std::numeric_limits<double>::epsilon()
                      : dtype == DType::kFloat16 ? 0.0009765625
                      : dtype == DType::kBFloat16
                          ? 0.0078125
                          : static_cast<double>(std::numeric_limits<float>::epsilon());
  const Shape normalized = context.ints("normalized_shape");
  Dims dims;
  for (std::size_t i = 0; i < normalized.size(); ++i) {
    dims.push_back(x.rank() - 1 - static_cast<std::int64_t>(i));
  }
  const Value wide = cast(x, compute);
  const Value scale = sqrt(mean(square(wide), dims, true) + context.number("eps", tiny));
  Value result = wide * reciprocal(scale);
  const Value weight = context.optional_tensor("weight");
  if (weight.defined()) result = result * cast(weight, compute);
  return cast(result, context.result_dtype());
}

struct Statistics {
  Value mean;
  Value variance;
};

Value with_statistics(OpContext& context, Value x, const Statistics& statistics, double epsilon) {
  Builder& builder = context.builder();
  Value weight = context.optional_tensor("weight");
  Value bias = context.optional_tensor("bias");
  const DType dtype = x.dtype();
  const bool native = x.rank() >= 2 && x.count() > 0 && dtype != DType::kBFloat16 &&
                      statistics.mean.dtype() == dtype;
  if (native) {
    const std::int64_t channels = x.size(1);
    if (!weight.defined()) weight = ones(builder, dtype, channels);
    if (!bias.defined()) bias = zeros(builder, dtype, channels);
    return builder.emit(
        "BatchNormalization",
        {x, cast(weight, dtype), cast(bias, dtype), statistics.mean, statistics.variance},
        {{"epsilon", static_cast<float>(epsilon)}}, x.type());
  }
  const DType compute = statistics.mean.dtype();
  const Value centered = cast(x, compute) - per_channel(statistics.mean, x.rank());
  Value result = centered * reciprocal(sqrt(per_channel(statistics.variance, x.rank()) + epsilon));
  if (weight.defined()) result = result * per_channel(cast(weight, compute), x.rank());
  if (bias.defined()) result = result + per_channel(cast(bias, compute), x.rank());
  return cast(result, dtype);
}

Statistics batch_statistics(Value x) {
  const Dims dims = without(x.rank(), 1);
  const Value center = mean(x, dims, true);
  return {reshape(center, {x.size(1)}), mean(square(x - center), dims)};
}

/// Sets the result, then the values that PyTorch keeps for the backward pass, then, for functional
/// forms, new statistics.
void convert_batch_norm(OpContext& context) {
  const Value x = context.tensor("input");
  const double epsilon = context.number("eps");
  const Value running_mean = context.optional_tensor("running_mean");
  const Value running_var = context.optional_tensor("running_var");
  const bool functional = context.result_count() >= 5;
  const bool training = context.has("training") ? context.flag("training") : functional;
  const Statistics statistics =
      training ? batch_statistics(x) : Statistics{running_mean, running_var};
  context.set(0, with_statistics(context, x, statistics, epsilon));
  const auto saved = [&](std::size_t i, Value value) {
    if (context.result_count() <= i) return;
    // The mode determines which of these PyTorch fills; an unused one has no elements.
    const Type type = context.result_type(i);
    const bool filled = element_count(type.shape) == value.count();
    context.set(i, filled ? cast(value, type.dtype) : full(context.builder(), type, 0));
  };
  saved(1, statistics.mean);
  saved(2, reciprocal(sqrt(statistics.variance + epsilon)));
  if (!functional) return;
  const std::size_t first = context.result_count() - 2;
  if (context.result_count() == 6) {  // an unused reserve
    context.set(3, full(context.builder(), context.result_type(3), 0));
  }
  const double momentum = context.number("momentum");
  const double count = static_cast<double>(x.count()) / static_cast<double>(x.size(1));
  const auto updated = [&](Value old, Value now) {
    return training ? old * (1.0 - momentum) + cast(now, old.dtype()) * momentum : old;
  };
  context.set(first, updated(running_mean, statistics.mean));
  context.set(first + 1,
              updated(running_var, statistics.variance * (count / std::max(count - 1.0, 1.0))));
}

Value convert_renorm(OpContext& context) {
  const Value x = context.tensor("self");
  const double p = context.number("p");
  const double largest = context.number("maxnorm");
  const Dims dims = without(x.rank(), wrap_dim(context.integer("dim"), x.rank()));
  Value norm;
  if (std::isinf(p)) {
    norm = amax(abs(x), dims, true);
  } else {
    norm = pow(sum(pow(abs(x), scalar_like(x, p)), dims, true), scalar_like(x, 1.0 / p));
  }
  return where(norm > largest, x * (largest / (norm + 1e-7)), x);
}

}  // namespace

Value layer_norm(Value x, const Shape& normalized_shape, Value weight, Value bias, double epsilon) {
  Builder& builder = x.builder();
  const auto rank = static_cast<std::int64_t>(normalized_shape.size());
  if (x.dtype() == DType::kBFloat16) {
    const auto wide = [](Value value) {
      return value.defined() ? cast(value, DType::kFloat32) : value;
    };
    return cast(layer_norm(wide(x), normalized_shape, wide(weight), wide(bias), epsilon),
                x.dtype());
  }
  if (!weight.defined()) weight = expand(scalar(builder, x.dtype(), 1), normalized_shape);
  if (x.count() == 0) return x;
  if (const Value rows = rows_of(x); rank == 1 && rows.defined()) {
    return reshape(layer_norm(rows, normalized_shape, weight, bias, epsilon), x.shape());
  }
  std::vector<Value> inputs = {x, cast(weight, x.dtype())};
  if (bias.defined()) inputs.push_back(cast(bias, x.dtype()));
  return builder.emit("LayerNormalization", inputs,
                      {{"axis", x.rank() - rank}, {"epsilon", static_cast<float>(epsilon)}},
                      x.type());
}

void register_normalization(ConverterRegistry& registry) {
  registry.add("aten::layer_norm", convert_layer_norm);
  registry.add("aten::native_layer_norm", convert_native_layer_norm);
  registry.add("aten::group_norm", convert_group_norm);
  registry.add("aten::native_group_norm", convert_native_group_norm);
  registry.add("aten::rms_norm", convert_rms_norm);
  // batch_norm itself is decomposed, because in training it also updates its statistics.
  registry.add(
      {"aten::native_batch_norm", "aten::_native_batch_norm_legit",
       "aten::_native_batch_norm_legit.no_stats", "aten::_native_batch_norm_legit_no_training",
       "aten::_native_batch_norm_legit_functional", "aten::_batch_norm_no_update",
       "aten::_batch_norm_with_update_functional"},
      convert_batch_norm);
  registry.add("aten::renorm", convert_renorm);
}

}  // namespace leapp::onnx_export
