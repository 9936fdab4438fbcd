// Unary and binary arithmetic.
#include <cmath>
#include <numbers>

#include "export/onnx/math.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

/// Returns the operand in the result's type: integers become floating-point numbers if they do in
/// PyTorch.
Value self(OpContext& context) {
  return cast(context.tensor("self"), context.result_dtype());
}

Value operand_as_result(OpContext& context, std::string_view parameter) {
  return cast(context.operand(parameter), context.result_dtype());
}

/// Returns a converter that applies one function to `self`.
template <typename Function>
auto unary(Function function) {
  return [function](OpContext& context) -> Value { return function(self(context)); };
}

/// Returns a converter to one ONNX operator over `self`.
auto unary(const char* op_type) {
  return [op_type](OpContext& context) -> Value { return elementwise(op_type, {self(context)}); };
}

/// Returns a converter that applies one function to `self` and `other`, both in the type of the
/// result.
template <typename Function>
auto binary(Function function) {
  return [function](OpContext& context) -> Value {
    return function(operand_as_result(context, "self"), operand_as_result(context, "other"));
  };
}

/// Returns the type to compute in: half precision is computed in single precision, including
/// numbers, and rounded once.
DType arithmetic_type(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 ? DType::kFloat32 : dtype;
}

Value arithmetic_operand(OpContext& context, std::string_view parameter) {
  return cast(context.operand(parameter), arithmetic_type(context.result_dtype()));
}

/// Returns the type for sums, for which PyTorch rounds numbers to float16 (not to bfloat16) before
/// it adds.
Value summand(OpContext& context, std::string_view parameter) {
  const Value value = context.operand(parameter);
  const DType dtype = context.result_dtype();
  return cast(dtype == DType::kFloat16 ? cast(value, dtype) : value, arithmetic_type(dtype));
}

Value scaled(OpContext& context, Value value) {
  if (!context.has("alpha")) return value;
  return value * context.scalar_argument("alpha", value.dtype());
}

Value convert_add(OpContext& context) {
  const Value total = summand(context, "self") + scaled(context, summand(context, "other"));
  return cast(total, context.result_dtype());
}

Value convert_sub(OpContext& context) {
  const Value rest = summand(context, "self") - scaled(context, summand(context, "other"));
  return cast(rest, context.result_dtype());
}

Value convert_rsub(OpContext& context) {
  const Value rest = summand(context, "other") - scaled(context, summand(context, "self"));
  return cast(rest, context.result_dtype());
}

Value convert_mul(OpContext& context) {
  const Value product = arithmetic_operand(context, "self") * arithmetic_operand(context, "other");
  return cast(product, context.result_dtype());
}

Value convert_div(OpContext& context) {
  const std::string mode = context.text("rounding_mode");
  const Value a = arithmetic_operand(context, "self");
  const Value b = arithmetic_operand(context, "other");
  const Value quotient = mode == "floor"   ? floor_divide(a, b)
                         : mode == "trunc" ? trunc_divide(a, b)
                                           : a / b;
  return cast(quotient, context.result_dtype());
}

Value convert_pow(OpContext& context) {
  const DType dtype = context.result_dtype();
  const Value exponent = cast(context.operand("exponent"), dtype);
  const Value base = cast(context.operand("self"), dtype);
  return power(base, exponent);
}

Value convert_round_decimals(OpContext& context) {
  const Value x = self(context);
  const std::int64_t decimals = context.integer("decimals");
  const double factor = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  if (decimals == 0) return round(x);
  return decimals > 0 ? round(x * factor) / factor : round(x / factor) * factor;
}

Value convert_lerp(OpContext& context) {
  const Value start = arithmetic_operand(context, "self");
  const Value end = arithmetic_operand(context, "end");
  const Value weight = arithmetic_operand(context, "weight");
  // PyTorch's two formulas: each is exact at its own end.
  const Value between = where(abs(weight) < 0.5, start + weight * (end - start),
                              end - (end - start) * (1.0 - weight));
  return cast(between, context.result_dtype());
}

Value convert_addcmul(OpContext& context) {
  const Value product =
      arithmetic_operand(context, "tensor1") * arithmetic_operand(context, "tensor2");
  const Value total = arithmetic_operand(context, "self") +
                      context.scalar_argument("value", product.dtype()) * product;
  return cast(total, context.result_dtype());
}

Value convert_addcdiv(OpContext& context) {
  const Value quotient =
      arithmetic_operand(context, "tensor1") / arithmetic_operand(context, "tensor2");
  const Value total = arithmetic_operand(context, "self") +
                      context.scalar_argument("value", quotient.dtype()) * quotient;
  return cast(total, context.result_dtype());
}

Value convert_clamp(OpContext& context) {
  const Value x = self(context);
  const DType dtype = x.dtype();
  const Value low = context.is_none("min") ? Value() : cast(context.operand("min"), dtype);
  const Value high = context.is_none("max") ? Value() : cast(context.operand("max"), dtype);
  return clamp(x, low, high);
}

Value convert_nan_to_num(OpContext& context) {
  const Value x = self(context);
  if (!is_floating_point(x.dtype())) return x;
  const auto [lowest, highest] = finite_range(x.dtype());
  const Value no_nan = where(is_nan(x), context.number("nan", 0.0), x);
  const Value no_high = where(equal(x, INFINITY), context.number("posinf", highest), no_nan);
  return where(equal(x, -INFINITY), context.number("neginf", lowest), no_high);
}

Value convert_fmod(OpContext& context) {
  return truncated_remainder(operand_as_result(context, "self"),
                             operand_as_result(context, "other"));
}

Value convert_remainder(OpContext& context) {
  return floored_remainder(operand_as_result(context, "self"), operand_as_result(context, "other"));
}

}  // namespace

void register_elementwise(ConverterRegistry& registry) {
  registry.add("aten::abs", unary([](Value x) { return abs(x); }));
  registry.add("aten::absolute", unary([](Value x) { return abs(x); }));
  registry.add({"aten::neg", "aten::negative"}, unary([](Value x) { return -x; }));
  registry.add({"aten::positive", "aten::conj_physical", "aten::resolve_conj", "aten::resolve_neg",
                "aten::real", "aten::_conj", "aten::conj"},
               unary([](Value x) { return x; }));
  registry.add({"aten::sign", "aten::sgn"}, unary([](Value x) {
                 // PyTorch treats NaN as unsigned.
                 if (!is_floating_point(x.dtype())) return sign(x);
                 return where(is_nan(x), 0.0, sign(x));
               }));
  registry.add("aten::exp", unary("Exp"));
  registry.add({"aten::exp2", "aten::special_exp2"},
               unary([](Value x) { return pow(scalar_like(x, 2), x); }));
  registry.add({"aten::expm1", "aten::special_expm1"}, unary(expm1));
  registry.add("aten::log", unary("Log"));
  registry.add("aten::log2", unary([](Value x) { return log_base(x, std::numbers::ln2); }));
  registry.add("aten::log10", unary([](Value x) { return log_base(x, std::numbers::ln10); }));
  registry.add({"aten::log1p", "aten::special_log1p"}, unary(log1p));
  registry.add("aten::sqrt", unary("Sqrt"));
  registry.add("aten::rsqrt", unary([](Value x) { return reciprocal(sqrt(x)); }));
  registry.add("aten::square", unary(square));
  registry.add("aten::reciprocal", unary("Reciprocal"));
  registry.add("aten::sin", unary("Sin"));
  registry.add("aten::cos", unary("Cos"));
  registry.add("aten::tan", unary(tan));
  registry.add({"aten::asin", "aten::arcsin"}, unary(asin));
  registry.add({"aten::acos", "aten::arccos"}, unary(acos));
  registry.add({"aten::atan", "aten::arctan"}, unary(atan));
  registry.add("aten::sinh", unary(sinh));
  registry.add("aten::cosh", unary(cosh));
  registry.add("aten::tanh", unary("Tanh"));
  registry.add({"aten::asinh", "aten::arcsinh"}, unary(asinh));
  registry.add({"aten::acosh", "aten::arccosh"}, unary(acosh));
  registry.add({"aten::atanh", "aten::arctanh"}, unary(atanh));
  registry.add({"aten::erf", "aten::special_erf"}, unary(erf));
  registry.add({"aten::sigmoid", "aten::special_expit"}, unary("Sigmoid"));
  registry.add("aten::floor", unary([](Value x) { return floor(x); }));
  registry.add("aten::ceil", unary([](Value x) { return ceil(x); }));
  registry.add("aten::round", unary([](Value x) { return round(x); }));
  registry.add("aten::round.decimals", convert_round_decimals);
  registry.add({"aten::trunc", "aten::fix"}, unary([](Value x) { return trunc(x); }));
  registry.add("aten::frac", unary([](Value x) { return x - trunc(x); }));
  registry.add({"aten::deg2rad"}, unary([](Value x) { return x * (std::numbers::pi / 180.0); }));
  registry.add({"aten::rad2deg"}, unary([](Value x) { return x * (180.0 / std::numbers::pi); }));
  registry.add("aten::nan_to_num", convert_nan_to_num);
  registry.add(
      {"aten::clamp", "aten::clamp.Tensor", "aten::clip", "aten::clip.Tensor", "aten::clamp_min",
       "aten::clamp_min.Tensor", "aten::clamp_max", "aten::clamp_max.Tensor"},
      convert_clamp);

  registry.add({"aten::add.Tensor", "aten::add.Scalar"}, convert_add);
  registry.add(
      {"aten::sub.Tensor", "aten::sub.Scalar", "aten::subtract.Tensor", "aten::subtract.Scalar"},
      convert_sub);
  registry.add({"aten::rsub.Tensor", "aten::rsub.Scalar"}, convert_rsub);
  registry.add(
      {"aten::mul.Tensor", "aten::mul.Scalar", "aten::multiply.Tensor", "aten::multiply.Scalar"},
      convert_mul);
  registry.add(
      {"aten::div.Tensor", "aten::div.Scalar", "aten::div.Tensor_mode", "aten::div.Scalar_mode",
       "aten::divide.Tensor", "aten::divide.Scalar", "aten::divide.Tensor_mode",
       "aten::divide.Scalar_mode", "aten::true_divide.Tensor", "aten::true_divide.Scalar"},
      convert_div);
  registry.add({"aten::floor_divide", "aten::floor_divide.Scalar"}, binary(floor_divide));
  registry.add(
      {"aten::remainder.Tensor", "aten::remainder.Scalar", "aten::remainder.Scalar_Tensor"},
      convert_remainder);
  registry.add({"aten::fmod.Tensor", "aten::fmod.Scalar"}, convert_fmod);
  registry.add({"aten::pow.Tensor_Tensor", "aten::pow.Tensor_Scalar", "aten::pow.Scalar"},
               convert_pow);
  registry.add({"aten::float_power.Tensor_Tensor", "aten::float_power.Tensor_Scalar",
                "aten::float_power.Scalar"},
               convert_pow);
  registry.add({"aten::maximum", "aten::max.other"},
               binary([](Value a, Value b) { return maximum(a, b); }));
  registry.add({"aten::minimum", "aten::min.other"},
               binary([](Value a, Value b) { return minimum(a, b); }));
  registry.add("aten::fmax", binary(fmax));
  registry.add("aten::fmin", binary(fmin));
  registry.add({"aten::atan2", "aten::arctan2"}, binary(atan2));
  registry.add("aten::hypot", binary(hypot));
  registry.add({"aten::copysign.Tensor", "aten::copysign.Scalar"}, binary(copysign));
  registry.add({"aten::lerp.Scalar", "aten::lerp.Tensor"}, convert_lerp);
  registry.add("aten::addcmul", convert_addcmul);
  registry.add("aten::addcdiv", convert_addcdiv);
}

}  // namespace leapp::onnx_export
