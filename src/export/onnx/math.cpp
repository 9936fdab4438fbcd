#include "export/onnx/math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace leapp::onnx_export {
namespace {

constexpr double kPi = std::numbers::pi;

bool is_signed(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kInt16 || dtype == DType::kInt32 ||
         dtype == DType::kInt64;
}

bool may_be(Value integers, std::int64_t number) {
  const auto values = constant_ints(integers);
  return !values || std::find(values->begin(), values->end(), number) != values->end();
}

/// Divides integers. Division by zero, and of the smallest integer by -1, would end the process.
Value quotient_of(Value a, Value b) {
  Value divisor = may_be(b, 0) ? where(equal(b, 0.0), 1.0, b) : b;
  if (!is_signed(b.dtype()) || !may_be(b, -1)) return a / divisor;
  const Value negates = equal(b, -1.0);
  return where(negates, scalar_like(a, 0) - a, a / where(negates, 1.0, divisor));
}

/// Returns a divisor with the same remainders that is safe too: -1 is replaced by 1.
Value remainder_divisor(Value b) {
  const Value divisor = may_be(b, 0) ? where(equal(b, 0.0), 1.0, b) : b;
  return is_signed(b.dtype()) && may_be(b, -1) ? where(equal(b, -1.0), 1.0, divisor) : divisor;
}

/// As in PyTorch, integer division by zero is an error, here of the tick. Reading beyond the end of
/// a single element is the only error that a graph can derive from a value.
Value refuse_zero(Value result, Value b) {
  if (!may_be(b, 0) || element_count(b.shape()) == 0) return result;
  Value zero = equal(b, 0.0);
  if (b.rank() > 0) {
    Dims all(static_cast<std::size_t>(b.rank()));
    std::iota(all.begin(), all.end(), 0);
    zero = any(zero, all);
  }
  return result + gather(unsqueeze(scalar_like(result, 0), 0), cast(zero, DType::kInt64), 0);
}

/// Computes C's fmod.
Value c_fmod(Value a, Value b) {
  return elementwise("Mod", {a, b}, {{"fmod", std::int64_t{1}}});
}

Value integer_power(Value x, Value exponent) {
  if (const auto values = constant_ints(exponent); values && values->size() == 1) {
    std::int64_t n = (*values)[0];
    if (n >= 0) {
      Value result = full(x.builder(), {x.dtype(), broadcast(x.shape(), exponent.shape())}, 1);
      bool first = true;
      for (Value factor = expand(x, result.shape()); n > 0; n >>= 1) {
        if ((n & 1) != 0) {
          result = first ? factor : result * factor;
          first = false;
        }
        if (n > 1) factor = factor * factor;
      }
      return result;
    }
  }
  // Exponentiation by squaring over the bits of the exponent; with a negative exponent only 1 and
  // -1 have a nonzero result.
  const DType dtype = x.dtype();
  const Shape shape = broadcast(x.shape(), exponent.shape());
  Value result = full(x.builder(), {dtype, shape}, 1);
  Value factor = expand(x, shape);
  Value left = exponent;
  const int bits = static_cast<int>(size_of(dtype)) * 8;
  for (int i = 0; i < std::min(bits, 63); ++i) {
    result = where(equal(floor_mod(left, scalar_like(left, 2)), 1.0), result * factor, result);
    factor = factor * factor;
    left = left / 2.0;
  }
  const Value odd = equal(floor_mod(exponent, scalar_like(exponent, 2)), 1.0);
  const Value for_negative = where(equal(x, 1.0), 1.0,
                                   where(equal(x, -1.0), where(odd, scalar_like(x, -1), 1.0),
                                         full(x.builder(), {dtype, shape}, 0)));
  return where(exponent < 0.0, for_negative, result);
}

}  // namespace

std::pair<double, double> finite_range(DType dtype) {
  double highest = 0;
  switch (dtype) {
    case DType::kFloat16:
      highest = 65504.0;
      break;
    case DType::kBFloat16:
      highest = 3.3895313892515355e38;
      break;
    case DType::kFloat64:
      highest = std::numeric_limits<double>::max();
      break;
    default:
      highest = static_cast<double>(std::numeric_limits<float>::max());
      break;
  }
  return {-highest, highest};
}

std::pair<std::int64_t, std::int64_t> integer_range(DType dtype) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (dtype == DType::kBool) return {0, 1};
  const int bits = static_cast<int>(size_of(dtype)) * 8;
  if (bits == 64) return {Limits::min(), Limits::max()};
  const bool no_sign = dtype == DType::kUInt8 || dtype == DType::kUInt16 || dtype == DType::kUInt32;
  const std::int64_t count = std::int64_t{1} << bits;
  return no_sign ? std::pair{std::int64_t{0}, count - 1} : std::pair{-count / 2, count / 2 - 1};
}

Value sign_bit(Value x) {
  if (x.dtype() == DType::kBool) return full(x.builder(), {DType::kBool, x.shape()}, 0);
  if (!is_floating_point(x.dtype())) return x < 0.0;
  return x < 0.0 || (equal(x, 0.0) && reciprocal(x) < 0.0);
}

Value copysign(Value a, Value b) {
  const Value size = abs(a);
  return where(sign_bit(b), -size, size);
}

Value expm1(Value x) {
  // tanh keeps the precision that exp(x) - 1 loses near zero.
  return where(abs(x) < 0.5, tanh(x * 0.5) * (exp(x) + 1.0), exp(x) - 1.0);
}

Value log1p(Value x) {
  // The factor x / ((1 + x) - 1) compensates the rounding error of 1 + x.
  const Value one_more = x + 1.0;
  const Value difference = one_more - 1.0;
  const Value exact = equal(difference, x) || is_inf(one_more);
  return where(exact, log(one_more),
               where(equal(difference, 0.0), x,
                     log(one_more) * (x / where(equal(difference, 0.0), 1.0, difference))));
}

Value log_base(Value x, double log_of_base) {
  // In double precision, so that powers of the base are exact.
  return cast(log(cast(x, DType::kFloat64)) / log_of_base, x.dtype());
}

Value tan(Value x) {
  return x.dtype() == DType::kFloat64 ? sin(x) / cos(x) : elementwise("Tan", {x});
}

Value atan2(Value y, Value x) {
  const Value across = abs(x);
  const Value up = abs(y);
  const Value longer = maximum(across, up);
  const Value ratio = minimum(across, up) / longer;
  const Value defined =
      where(equal(longer, 0.0), 0.0, where(is_inf(across) && is_inf(up), 1.0, ratio));
  const Value slope = atan(defined);
  const Value quarter = where(up > across, kPi / 2 - slope, slope);
  const Value half = where(sign_bit(x), kPi - quarter, quarter);
  return where(sign_bit(y), -half, half);
}

Value hypot(Value a, Value b) {
  if (a.dtype() == DType::kFloat64) {
    const Value longer = maximum(abs(a), abs(b));
    const Value shorter = minimum(abs(a), abs(b));
    const Value ratio = shorter / where(equal(longer, 0.0), 1.0, longer);
    const Value length = longer * sqrt(1.0 + square(ratio));
    return where(is_inf(a) || is_inf(b), INFINITY, length);
  }
  const Value wide_a = cast(a, DType::kFloat64);
  const Value wide_b = cast(b, DType::kFloat64);
  const Value length = cast(sqrt(square(wide_a) + square(wide_b)), a.dtype());
  return where(is_inf(a) || is_inf(b), INFINITY, length);
}

Value fmax(Value a, Value b) {
  const Value larger = maximum(a, b);
  if (!is_floating_point(a.dtype())) return larger;
  return where(is_nan(a), b, where(is_nan(b), a, larger));
}

Value fmin(Value a, Value b) {
  const Value smaller = minimum(a, b);
  if (!is_floating_point(a.dtype())) return smaller;
  return where(is_nan(a), b, where(is_nan(b), a, smaller));
}

Value clamp(Value x, Value low, Value high) {
  const auto fits = [&](Value bound) {
    if (!bound.defined()) return true;
    if (bound.rank() != 0) return false;
    const auto number = constant_doubles(bound);
    return number && !std::isnan((*number)[0]);
  };
  // Clip with constant bounds is one node that engines fuse with what comes before it. Without a
  // bound it would limit infinities to the largest finite number, and NaN is not a valid bound.
  if (is_floating_point(x.dtype()) && fits(low) && fits(high) && x.dtype() != DType::kBFloat16) {
    const Value from = low.defined() ? low : scalar_like(x, -INFINITY);
    const Value to = high.defined() ? high : scalar_like(x, INFINITY);
    return x.builder().emit("Clip", {x, from, to}, {}, x.type());
  }
  if (low.defined()) x = maximum(x, low);
  return high.defined() ? minimum(x, high) : x;
}

Value floor_divide(Value a, Value b) {
  if (!is_floating_point(a.dtype())) {
    const Value quotient = quotient_of(a, b);
    const Value rest = a - quotient * b;
    const Value lower = not_equal(rest, 0.0) && logical_xor(rest < 0.0, b < 0.0);
    return refuse_zero(quotient - cast(lower, a.dtype()), b);
  }
  // The same steps as in PyTorch, so the rounding is the same.
  const Value rest = c_fmod(a, b);
  Value quotient = (a - rest) / b;
  const Value lower = not_equal(rest, 0.0) && logical_xor(b < 0.0, rest < 0.0);
  quotient = where(lower, quotient - 1.0, quotient);
  const Value whole = floor(quotient);
  const Value rounded = where(quotient - whole > 0.5, whole + 1.0, whole);
  const Value result = where(not_equal(quotient, 0.0), rounded, copysign(a * 0.0, a / b));
  return where(equal(b, 0.0), a / b, result);
}

Value trunc_divide(Value a, Value b) {
  return is_floating_point(a.dtype()) ? trunc(a / b) : refuse_zero(quotient_of(a, b), b);
}

Value floored_remainder(Value a, Value b) {
  if (!is_floating_point(a.dtype())) return refuse_zero(floor_mod(a, remainder_divisor(b)), b);
  const Value rest = c_fmod(a, b);
  const Value other_sign = not_equal(rest, 0.0) && logical_xor(b < 0.0, rest < 0.0);
  return where(other_sign, rest + b, rest);
}

Value truncated_remainder(Value a, Value b) {
  if (is_floating_point(a.dtype())) return c_fmod(a, b);
  return refuse_zero(c_fmod(a, remainder_divisor(b)), b);
}

Value power(Value x, Value exponent) {
  if (x.dtype() == DType::kBool) return x || !exponent;
  if (!is_floating_point(x.dtype())) return integer_power(x, exponent);
  if (const auto values = constant_doubles(exponent);
      values && values->size() == 1 && broadcast(x.shape(), exponent.shape()) == x.shape()) {
    const double n = (*values)[0];
    // For half precision PyTorch computes the root like C's pow: of -inf it is inf.
    if (n == 0.5 && x.dtype() != DType::kFloat16) return sqrt(x);
    if (n == 1.0) return x;
    if (n == 2.0) return square(x);
    if (n == 3.0) return square(x) * x;
    if (n == -0.5) return reciprocal(sqrt(x));
    if (n == -1.0) return reciprocal(x);
    if (n == -2.0) return reciprocal(square(x));
  }
  return pow(x, exponent);
}

}  // namespace leapp::onnx_export
