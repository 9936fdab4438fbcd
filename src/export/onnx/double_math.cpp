// Functions that the runtime computes only in single precision, implemented in double precision by
// those that it supports: exp, log, sin, cos, sqrt.
#include <cmath>
#include <numbers>

#include "export/onnx/math.h"
#include "export/onnx/special.h"
#include "export/onnx/special_tables.h"

namespace leapp::onnx_export {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kLn2 = std::numbers::ln2;
/// The limit above which a square overflows.
constexpr double kHuge = 1e150;

bool is_double(Value x) {
  return x.dtype() == DType::kFloat64;
}

/// Computes the arc tangent of numbers from 0 to 1: single precision, then one step that doubles
/// the number of digits.
Value atan_of_ratio(Value x) {
  const Value guess = cast(elementwise("Atan", {cast(x, DType::kFloat32)}), DType::kFloat64);
  const Value slope = sin(guess) / cos(guess);
  return guess + (x - slope) / (1.0 + x * slope);
}

/// Computes half of exp(x), even if exp(x) itself overflows.
Value half_exp(Value x) {
  const Value root = exp(x * 0.5);
  return root * 0.5 * root;
}

}  // namespace

Value atan(Value x) {
  if (!is_double(x)) return elementwise("Atan", {x});
  const Value size = abs(x);
  const Value steep = size > 1.0;
  const Value angle = atan_of_ratio(where(steep, reciprocal(size), size));
  return copysign(where(steep, kPi / 2 - angle, angle), x);
}

Value asin(Value x) {
  if (!is_double(x)) return elementwise("Asin", {x});
  return atan(x / sqrt((1.0 - x) * (1.0 + x)));
}

Value acos(Value x) {
  if (!is_double(x)) return elementwise("Acos", {x});
  return atan(sqrt((1.0 - x) / (1.0 + x))) * 2.0;
}

Value sinh(Value x) {
  if (!is_double(x)) return elementwise("Sinh", {x});
  const Value size = abs(x);
  const Value grown = expm1(where(size > 1.0, 0.0, size));
  const Value near = (grown + grown / (grown + 1.0)) * 0.5;
  return copysign(where(size > 1.0, half_exp(size) - half_exp(-size), near), x);
}

Value cosh(Value x) {
  if (!is_double(x)) return elementwise("Cosh", {x});
  return half_exp(x) + half_exp(-x);
}

Value asinh(Value x) {
  if (!is_double(x)) return elementwise("Asinh", {x});
  const Value size = abs(x);
  const Value squared = square(where(size > kHuge, 1.0, size));
  const Value near = log1p(size + squared / (1.0 + sqrt(squared + 1.0)));
  return copysign(where(size > kHuge, log(size) + kLn2, near), x);
}

Value acosh(Value x) {
  if (!is_double(x)) return elementwise("Acosh", {x});
  const Value above = x - 1.0;
  const Value near = log1p(above + sqrt(above * (above + 2.0)));
  return where(x > kHuge, log(x) + kLn2, near);
}

Value atanh(Value x) {
  if (!is_double(x)) return elementwise("Atanh", {x});
  const Value size = abs(x);
  return copysign(log1p(size * 2.0 / (1.0 - size)) * 0.5, x);
}

Value erf(Value x) {
  if (!is_double(x)) return elementwise("Erf", {x});
  const Value size = abs(x);
  const Value near = size * polynomial_over(square(size), 0, 9, tables::kErfNear);
  return copysign(where(size > 3.0, 1.0 - erfc(size), near), x);
}

}  // namespace leapp::onnx_export
