// Activation functions and softmax.
#include <cmath>
#include <numbers>

#include "export/onnx/math.h"
#include "export/onnx/nn.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

Value self(OpContext& context) {
  return cast(context.tensor("self"), context.result_dtype());
}

template <typename Function>
auto unary(Function function) {
  return [function](OpContext& context) -> Value { return function(self(context)); };
}

float as_float(double value) {
  return static_cast<float>(value);
}

/// Returns whether the runtime has the single-precision operators for this type.
bool is_single(Value x) {
  return x.dtype() != DType::kFloat64;
}

Value convert_leaky_relu(OpContext& context) {
  const Value x = self(context);
  const double slope = context.number("negative_slope");
  if (is_single(x)) return elementwise("LeakyRelu", {x}, {{"alpha", as_float(slope)}});
  return where(x > 0.0, x, x * slope);
}

Value convert_elu(OpContext& context) {
  const Value x = self(context);
  const double alpha = context.number("alpha");
  const double scale = context.has("scale") ? context.number("scale") : 1.0;
  const double input_scale = context.has("input_scale") ? context.number("input_scale") : 1.0;
  if (is_single(x) && input_scale == 1.0) {
    if (scale == 1.0) return elementwise("Elu", {x}, {{"alpha", as_float(alpha)}});
    return elementwise("Selu", {x}, {{"alpha", as_float(alpha)}, {"gamma", as_float(scale)}});
  }
  return where(x > 0.0, x * scale, expm1(x * input_scale) * (alpha * scale));
}

Value convert_celu(OpContext& context) {
  const Value x = self(context);
  const double alpha = context.number("alpha");
  return where(x > 0.0, x, expm1(x / alpha) * alpha);
}

Value convert_gelu(OpContext& context) {
  return gelu(self(context), context.text("approximate"));
}

Value convert_mish(OpContext& context) {
  // tanh(log(1 + e)) is n / (n + 2) with n = e (e + 2), which runs vectorised; engines have no
  // kernel for Mish and decompose it into a Softplus, which is not vectorised. Above 20 the result
  // is x itself.
  const Value x = self(context);
  const Value e = exp(clamp(x, Value(), scalar_like(x, 20)));
  const Value n = e * (e + 2.0);
  return x * (n / (n + 2.0));
}

Value convert_hardtanh(OpContext& context) {
  const Value x = self(context);
  return clamp(x, context.scalar_argument("min_val", x.dtype()),
               context.scalar_argument("max_val", x.dtype()));
}

Value hard_sigmoid(Value x) {
  if (is_single(x)) {
    return elementwise("HardSigmoid", {x}, {{"alpha", as_float(1.0 / 6.0)}, {"beta", 0.5F}});
  }
  return clamp(x / 6.0 + 0.5, scalar_like(x, 0), scalar_like(x, 1));
}

Value hard_swish(Value x) {
  return is_single(x) ? elementwise("HardSwish", {x}) : x * hard_sigmoid(x);
}

Value convert_softplus(OpContext& context) {
  const Value x = self(context);
  const double beta = context.number("beta");
  const double threshold = context.number("threshold");
  const Value scaled = x * beta;
  const Value smooth = softplus(scaled) / beta;
  // Above 20 the two branches agree to the last bit of a float.
  if (threshold >= 20.0 && is_single(x)) return smooth;
  return where(scaled > threshold, x, smooth);
}

Value convert_softshrink(OpContext& context) {
  const Value x = self(context);
  const double lambda = context.number("lambd");
  const Value shrunk = where(x > lambda, x - lambda, where(x < -lambda, x + lambda, x * 0.0));
  return shrunk;
}

Value convert_hardshrink(OpContext& context) {
  const Value x = self(context);
  const double lambda = context.number("lambd");
  return where(x >= -lambda && x <= lambda, 0.0, x);
}

Value convert_threshold(OpContext& context) {
  const Value x = self(context);
  return where(x <= context.scalar_argument("threshold", x.dtype()),
               context.scalar_argument("value", x.dtype()), x);
}

Value convert_prelu(OpContext& context) {
  const Value x = self(context);
  Value weight = cast(context.tensor("weight"), x.dtype());
  if (weight.rank() == 1 && x.rank() > 1) {  // the whole operator: one slope per channel
    Shape shape(static_cast<std::size_t>(x.rank()) - 1, 1);
    shape[0] = weight.size(0);
    weight = reshape(weight, shape);
  }
  if (weight.count() == 1) weight = reshape(weight, {});
  return where(x > 0.0, x, x * weight);
}

Value convert_glu(OpContext& context) {
  const Value x = self(context);
  const std::int64_t dim = wrap_dim(context.integer("dim"), x.rank());
  const Dims halves = {x.size(dim) / 2, x.size(dim) / 2};
  const std::vector<Value> parts = split(x, halves, dim);
  return parts[0] * sigmoid(parts[1]);
}

Value log_sigmoid(Value x) {
  return minimum(x, scalar_like(x, 0)) - log1p(exp(-abs(x)));
}

Value convert_logit(OpContext& context) {
  Value x = self(context);
  if (!context.is_none("eps")) {
    const double eps = context.number("eps");
    if (eps >= 0) x = clamp(x, scalar_like(x, eps), scalar_like(x, 1.0 - eps));
  }
  return log(x / (1.0 - x));
}

Value convert_softmax(OpContext& context, const char* op_type) {
  // Casting down first would lose the precision that half_to_float keeps.
  return cast(softmax(op_type, cast(context.tensor("self"), context.result_dtype()),
                      context.integer("dim")),
              context.result_dtype());
}

Value convert_safe_softmax(OpContext& context) {
  return safe_softmax(self(context), context.integer("dim"));
}

Value convert_rrelu(OpContext& context) {
  context.need(!context.flag("training"), "it draws random slopes while training",
               "Put the model in eval mode.");
  const Value x = self(context);
  const double slope = (context.number("lower") + context.number("upper")) / 2.0;
  return where(x > 0.0, x, x * slope);
}

}  // namespace

Value gelu(Value x, const std::string& approximate) {
  if (x.builder().opset() >= 20 && is_single(x)) {
    return elementwise("Gelu", {x}, {{"approximate", approximate}});
  }
  if (approximate == "tanh") {
    const double factor = std::sqrt(2.0 / std::numbers::pi);
    return x * 0.5 * (1.0 + tanh((x + square(x) * x * 0.044715) * factor));
  }
  return x * 0.5 * (1.0 + erf(x / std::numbers::sqrt2));
}

Value softplus(Value x) {
  if (is_single(x)) return elementwise("Softplus", {x});
  return maximum(x, scalar_like(x, 0)) + log1p(exp(-abs(x)));
}

Value softmax(const char* op_type, Value x, std::int64_t dim) {
  if (x.rank() == 0) return reshape(softmax(op_type, reshape(x, {1}), 0), {});
  if (x.dtype() == DType::kFloat64 && std::string_view(op_type) == "LogSoftmax") {
    // For infinities, the runtime's kernel for double returns infinities, but PyTorch returns NaN.
    const Value shifted = x - reduce("ReduceMax", x, {dim}, true);
    return shifted - log(sum(exp(shifted), {dim}, true));
  }
  return elementwise(op_type, {x}, {{"axis", wrap_dim(dim, x.rank())}});
}

Value safe_softmax(Value x, std::int64_t dim) {
  if (x.rank() == 0) return softmax("Softmax", x, 0);
  const Value nothing = all(equal(x, -INFINITY), {dim}, true);
  return where(nothing, 0.0, softmax("Softmax", x, dim));
}

void register_activation(ConverterRegistry& registry) {
  registry.add("aten::relu", unary([](Value x) { return relu(x); }));
  registry.add("aten::relu6",
               unary([](Value x) { return clamp(x, scalar_like(x, 0), scalar_like(x, 6)); }));
  registry.add("aten::leaky_relu", convert_leaky_relu);
  registry.add("aten::elu", convert_elu);
  registry.add("aten::celu", convert_celu);
  registry.add("aten::gelu", convert_gelu);
  registry.add("aten::silu", unary([](Value x) { return x * sigmoid(x); }));
  registry.add("aten::mish", convert_mish);
  registry.add("aten::hardtanh", convert_hardtanh);
  registry.add("aten::hardsigmoid", unary(hard_sigmoid));
  registry.add("aten::hardswish", unary(hard_swish));
  registry.add("aten::softplus", convert_softplus);
  registry.add("aten::softshrink", convert_softshrink);
  registry.add("aten::hardshrink", convert_hardshrink);
  registry.add("aten::threshold", convert_threshold);
  registry.add({"aten::prelu", "aten::_prelu_kernel"}, convert_prelu);
  registry.add("aten::glu", convert_glu);
  registry.add("aten::log_sigmoid", unary(log_sigmoid));
  registry.add({"aten::logit", "aten::special_logit"}, convert_logit);
  registry.add("aten::rrelu", convert_rrelu);
  registry.add({"aten::softmax.int", "aten::_softmax", "aten::special_softmax"},
               [](OpContext& context) { return convert_softmax(context, "Softmax"); });
  registry.add({"aten::log_softmax.int", "aten::_log_softmax", "aten::special_log_softmax"},
               [](OpContext& context) { return convert_softmax(context, "LogSoftmax"); });
  registry.add("aten::_safe_softmax", convert_safe_softmax);
}

}  // namespace leapp::onnx_export
