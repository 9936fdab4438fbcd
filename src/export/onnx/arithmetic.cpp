// Less common binary arithmetic, and functions on the representation of numbers.
#include <cmath>
#include <numbers>

#include "export/onnx/math.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

Value operand(OpContext& context, std::string_view parameter) {
  return cast(context.operand(parameter), context.result_dtype());
}

template <typename Function>
auto binary(Function function) {
  return [function](OpContext& context) -> Value {
    return function(operand(context, "self"), operand(context, "other"));
  };
}

/// Returns log(base^a + base^b) without overflow.
Value log_add_exp(Value a, Value b, double log_of_base) {
  const Value distance = abs(a - b) * -log_of_base;
  const Value sum = maximum(a, b) + log1p(exp(distance)) / log_of_base;
  return where(equal(a, b) && is_inf(a), a, sum);
}

Value x_log_y(Value x, Value y) {
  return where(is_nan(y), NAN, where(equal(x, 0.0), 0.0, x * log(y)));
}

Value x_log1p_y(Value x, Value y) {
  return where(is_nan(y), NAN, where(equal(x, 0.0), 0.0, x * log1p(y)));
}

Value convert_heaviside(OpContext& context) {
  const Value x = operand(context, "self");
  return where(equal(x, 0.0), operand(context, "values"), cast(x > 0.0, x.dtype()));
}

Value convert_ldexp(OpContext& context) {
  const Value x = operand(context, "self");
  const Value exponent = context.tensor("other");
  if (!is_floating_point(context.tensor("self").dtype())) {
    const Value power = cast(exponent, x.dtype());
    return x * pow(scalar_like(power, 2), power);
  }
  if (is_floating_point(exponent.dtype())) {  // PyTorch rounds the power to its own type
    return x * cast(pow(scalar_like(exponent, 2), exponent), x.dtype());
  }
  // Wide enough that no power becomes zero or infinite: inf stays inf, zero stays zero.
  const Value wide = cast(cast(exponent, DType::kInt32), DType::kFloat64);
  const double limit = x.dtype() == DType::kFloat64 ? 1000.0 : 500.0;
  const Value first = clamp(wide, scalar_like(wide, -limit), scalar_like(wide, limit));
  const Value scaled = cast(x, DType::kFloat64) * pow(scalar_like(wide, 2), first);
  if (x.dtype() != DType::kFloat64) return cast(scaled, x.dtype());
  const Value rest = clamp(wide - first, scalar_like(wide, -1000), scalar_like(wide, 1000));
  return scaled * pow(scalar_like(wide, 2), rest);
}

Value convert_angle(OpContext& context) {
  const Value x = operand(context, "self");
  const Value angle = where(x < 0.0, scalar_like(x, std::numbers::pi), 0.0);
  return expand(is_floating_point(x.dtype()) ? where(is_nan(x), x, angle) : angle, x.shape());
}

Value sinc(Value x) {
  const Value angle = x * std::numbers::pi;
  return where(equal(x, 0.0), 1.0, sin(angle) / where(equal(angle, 0.0), 1.0, angle));
}

/// The mantissa in [0.5, 1) and the exponent of finite numbers, both as double: exact for up to 32
/// bits.
struct Binary {
  Value mantissa;
  Value exponent;
};

Binary frexp_parts(Value wide) {
  const Value size = abs(wide);
  const Value safe = where(equal(size, 0.0) || is_inf(size) || is_nan(size), 1.0, size);
  const Value guess = floor(log(safe) / std::numbers::ln2);
  // The rounded logarithm of a power of two may be too large or too small.
  const Value two = scalar_like(wide, 2);
  const Value up = where(safe >= pow(two, guess + 1.0), guess + 1.0, guess);
  const Value exponent = where(safe < pow(two, up), up - 1.0, up) + 1.0;
  return {wide / pow(two, exponent), exponent};
}

void need_single(OpContext& context, Value x) {
  context.need(x.dtype() != DType::kFloat64,
               "it splits a float64 into mantissa and exponent, which ONNX cannot do exactly",
               "Convert to float32 first.");
}

void convert_frexp(OpContext& context) {
  const Value x = context.tensor("self");
  need_single(context, x);
  const Value wide = cast(x, DType::kFloat64);
  const Binary parts = frexp_parts(wide);
  const Value special = equal(wide, 0.0) || is_inf(wide) || is_nan(wide);
  context.set(0, cast(where(special, wide, parts.mantissa), x.dtype()));
  context.set(1, cast(where(special, 0.0, parts.exponent), DType::kInt32));
}

Value convert_nextafter(OpContext& context) {
  const Value from = operand(context, "self");
  context.need(from.dtype() == DType::kFloat32, "it is only known for float32 here",
               "Convert to float32 first.");
  const Value to = operand(context, "other");
  const Value a = cast(from, DType::kFloat64);
  const Value b = cast(to, DType::kFloat64);
  const Binary parts = frexp_parts(a);
  const Value size = abs(a);
  const Value away = (a > 0.0 && b > a) || (a < 0.0 && b < a);
  // Below 2^-126 numbers have a constant spacing; the lower neighbour of a power of two is half as
  // far.
  const Value smallest = maximum(parts.exponent, scalar_like(a, -125));
  const Value step = pow(scalar_like(a, 2), smallest - 24.0);
  const Value halved = equal(abs(parts.mantissa), 0.5) && parts.exponent > -125.0;
  const Value nearer = size - where(halved, step * 0.5, step);
  const Value moved = where(away, size + step, nearer);
  constexpr double kLargest = 3.4028234663852886e38;
  const Value finite = where(is_inf(a), kLargest, moved);
  const Value signed_step = where(a < 0.0, -finite, finite);
  const Value tiny = where(b > 0.0, scalar_like(a, 0x1p-149), -0x1p-149);
  const Value next = cast(where(equal(a, 0.0), tiny, signed_step), DType::kFloat32);
  const Value result = where(equal(from, to), to, next);
  return where(is_nan(from) || is_nan(to), NAN, result);
}

/// Runs Euclid's algorithm for all elements at once, with the steps of the slowest pair of the
/// type.
Value gcd(Value a, Value b) {
  Builder& builder = a.builder();
  const Shape shape = broadcast(a.shape(), b.shape());
  const std::int64_t rounds = a.dtype() == DType::kInt64 ? 93 : 47;
  const std::vector<Value> done = builder.loop(
      scalar_int(builder, DType::kInt64, rounds), {expand(abs(a), shape), expand(abs(b), shape)},
      [](Value, const std::vector<Value>& state) -> std::vector<Value> {
        const Value ended = equal(state[1], 0.0);
        const Value rest = floor_mod(state[0], where(ended, 1.0, state[1]));
        return {where(ended, state[0], state[1]), where(ended, 0.0, rest)};
      });
  return done[0];
}

Value lcm(Value a, Value b) {
  const Value common = gcd(a, b);
  return abs(a / where(equal(common, 0.0), 1.0, common) * b);
}

}  // namespace

void register_arithmetic(ConverterRegistry& registry) {
  registry.add("aten::logaddexp", binary([](Value a, Value b) { return log_add_exp(a, b, 1.0); }));
  registry.add("aten::logaddexp2",
               binary([](Value a, Value b) { return log_add_exp(a, b, std::numbers::ln2); }));
  registry.add({"aten::xlogy.Tensor", "aten::xlogy.Scalar_Self", "aten::xlogy.Scalar_Other",
                "aten::special_xlogy", "aten::special_xlogy.self_scalar",
                "aten::special_xlogy.other_scalar"},
               binary(x_log_y));
  registry.add({"aten::special_xlog1py", "aten::special_xlog1py.self_scalar",
                "aten::special_xlog1py.other_scalar"},
               binary(x_log1p_y));
  registry.add("aten::gcd", binary(gcd));
  registry.add("aten::lcm", binary(lcm));
  registry.add("aten::heaviside", convert_heaviside);
  registry.add("aten::ldexp.Tensor", convert_ldexp);
  registry.add("aten::angle", convert_angle);
  registry.add({"aten::sinc", "aten::special_sinc"},
               [](OpContext& context) -> Value { return sinc(operand(context, "self")); });
  registry.add("aten::frexp.Tensor", convert_frexp);
  registry.add("aten::nextafter", convert_nextafter);
}

}  // namespace leapp::onnx_export
