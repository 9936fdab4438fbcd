// Normalisations.
#include <algorithm>

#include "export/cpp/pointwise.h"
#include "export/cpp/reduce.h"
#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

using Ints = std::vector<std::int64_t>;

struct Moments {
  Value mean;
  Value rstd;  // reciprocal of the standard deviation
};

Moments moments_of(Program& program, const Value& x, const Ints& dims, double eps) {
  program.use_kernel("math.h");
  const Value mean = mean_of(program, x, dims);
  const Value squares = combine("(($0 - $1) * ($0 - $1))", {x, mean}, x.dtype);
  const Value spread = mean_of(program, squares, dims);
  return {mean, program.stored(combine("rsqrt($0 + $1)", {spread, filled(eps, x.dtype)}, x.dtype))};
}

Value affine(const Value& x, const std::optional<Value>& weight, const std::optional<Value>& bias) {
  Value y = x;
  if (weight) y = combine("($0 * $1)", {y, *weight}, x.dtype);
  if (bias) y = combine("($0 + $1)", {y, *bias}, x.dtype);
  return y;
}

Value centred(const Value& x, const Moments& moments) {
  return combine("(($0 - $1) * $2)", {x, moments.mean, moments.rstd}, x.dtype);
}

Ints last_dims(std::int64_t rank, std::size_t count) {
  Ints dims;
  for (std::int64_t i = rank - static_cast<std::int64_t>(count); i < rank; ++i) dims.push_back(i);
  return dims;
}

void generate_layer_norm(OpContext& context) {
  Program& program = context.program();
  const Value x = program.cheap(context.tensor("input"));
  const Ints dims = last_dims(x.rank(), context.ints("normalized_shape").size());
  const Moments moments = moments_of(program, x, dims, context.number("eps"));
  context.set(0, affine(centred(x, moments), context.optional_tensor("weight"),
                        context.optional_tensor("bias")));
  if (context.result_count() == 1) return;
  if (context.is_used(1)) context.set(1, program.reshaped(moments.mean, context.result_shape(1)));
  if (context.is_used(2)) context.set(2, program.reshaped(moments.rstd, context.result_shape(2)));
}

Value generate_rms_norm(OpContext& context) {
  Program& program = context.program();
  const Value x = program.cheap(context.tensor("input"));
  const Ints dims = last_dims(x.rank(), context.ints("normalized_shape").size());
  const double eps = context.number(
      "eps", x.dtype == DType::kFloat64 ? 2.220446049250313e-16 : 1.1920928955078125e-07);
  program.use_kernel("math.h");
  const Value spread = mean_of(program, combine("($0 * $0)", {x}, x.dtype), dims);
  const Value rstd =
      program.stored(combine("rsqrt($0 + $1)", {spread, filled(eps, x.dtype)}, x.dtype));
  return affine(combine("($0 * $1)", {x, rstd}, x.dtype), context.optional_tensor("weight"), {});
}

// Returns [C] as [1, C, 1..] for a tensor of that rank.
std::optional<Value> per_channel(const std::optional<Value>& value, std::int64_t rank) {
  if (!value) return std::nullopt;
  Value wide = unsqueezed(*value, 0);
  while (wide.rank() < rank) wide = unsqueezed(wide, wide.rank());
  return wide;
}

// Updates the running statistics towards those of the batch.
void set_running(OpContext& context, const Value& x, const Moments& moments, double eps) {
  Program& program = context.program();
  const Shape channels = {x.shape[1]};
  const double count = static_cast<double>(x.count() / std::max<std::int64_t>(x.shape[1], 1));
  const Value momentum = filled(context.number("momentum"), x.dtype);
  const Value mean = program.reshaped(moments.mean, channels);
  const Value rstd = program.reshaped(moments.rstd, channels);
  const Value spread = combine(
      "(($3 / ($0 * $0) - $1) * $2)",
      {rstd, filled(eps, x.dtype), filled(count / (count - 1), x.dtype), filled(1.0, x.dtype)},
      x.dtype);
  const char* text = "($0 + ($1 - $0) * $2)";
  if (context.is_used(3)) {
    context.set(3, combine(text, {context.tensor("running_mean"), mean, momentum}, x.dtype));
  }
  if (context.is_used(4)) {
    context.set(4, combine(text, {context.tensor("running_var"), spread, momentum}, x.dtype));
  }
}

void generate_batch_norm(OpContext& context, bool training) {
  Program& program = context.program();
  const Value x = program.cheap(context.tensor("input"));
  const double eps = context.number("eps");
  Moments moments;
  if (training) {
    Ints dims;
    for (std::int64_t i = 0; i < x.rank(); ++i) {
      if (i != 1) dims.push_back(i);
    }
    moments = moments_of(program, x, dims, eps);
  } else {
    program.use_kernel("math.h");
    moments.mean = *per_channel(context.tensor("running_mean"), x.rank());
    const Value spread = *per_channel(context.tensor("running_var"), x.rank());
    moments.rstd =
        program.stored(combine("rsqrt($0 + $1)", {spread, filled(eps, x.dtype)}, x.dtype));
  }
  context.set(0,
              affine(centred(x, moments), per_channel(context.optional_tensor("weight"), x.rank()),
                     per_channel(context.optional_tensor("bias"), x.rank())));
  if (training && context.result_count() > 3) set_running(context, x, moments, eps);
  for (std::size_t i = 1; i < std::min<std::size_t>(context.result_count(), 3); ++i) {
    if (!context.is_used(i)) continue;
    context.need(training, "the statistics of the batch are used");
    context.set(i, program.reshaped(i == 1 ? moments.mean : moments.rstd, context.result_shape(i)));
  }
}

Value grouped_channels(Program& program, const Value& x, std::int64_t groups) {
  const std::int64_t batch = x.shape[0];
  return program.reshaped(x,
                          {batch, groups, batch * groups == 0 ? 0 : x.count() / (batch * groups)});
}

void generate_group_norm(OpContext& context, const char* input, const char* group) {
  Program& program = context.program();
  const Value x = program.stored(context.tensor(input));
  const std::int64_t groups = context.integer(group);
  const Value rows = grouped_channels(program, x, groups);
  const Moments moments = moments_of(program, rows, {2}, context.number("eps"));
  const Value y = program.reshaped(program.stored(centred(rows, moments)), x.shape);
  context.set(0, affine(y, per_channel(context.optional_tensor("weight"), x.rank()),
                        per_channel(context.optional_tensor("bias"), x.rank())));
  for (std::size_t i = 1; i < context.result_count(); ++i) {
    if (!context.is_used(i)) continue;
    context.set(i, program.reshaped(i == 1 ? moments.mean : moments.rstd, context.result_shape(i)));
  }
}

}  // namespace

void register_normalization(GeneratorRegistry& registry) {
  registry.add({"aten::layer_norm", "aten::native_layer_norm"}, generate_layer_norm);
  registry.add({"aten::rms_norm"}, generate_rms_norm);
  registry.add({"aten::_native_batch_norm_legit_no_training", "aten::_batch_norm_no_update"},
               [](OpContext& context) { generate_batch_norm(context, false); });
  registry.add({"aten::native_batch_norm", "aten::_native_batch_norm_legit"},
               [](OpContext& context) { generate_batch_norm(context, context.flag("training")); });
  registry.add({"aten::_native_batch_norm_legit_functional"},
               [](OpContext& context) { generate_batch_norm(context, context.flag("training")); });
  registry.add({"aten::_native_batch_norm_legit.no_stats"},
               [](OpContext& context) { generate_batch_norm(context, true); });
  registry.add({"aten::group_norm"},
               [](OpContext& context) { generate_group_norm(context, "input", "num_groups"); });
  registry.add({"aten::native_group_norm"},
               [](OpContext& context) { generate_group_norm(context, "input", "group"); });
}

}  // namespace leapp::cpp_export
